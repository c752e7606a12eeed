// Builds images of deploy/Dockerfile with buildah, and runs them as a container would: namespaces of its own, the root
// of the image read-only, /data alone writable, the user and the entry point of the image.
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeNodeBase } from './node-base.ts'

const needed = ['buildah', 'tini', 'unshare', 'dpkg'] as const
const missing = needed.filter((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0)

/** Why no image can be built here, or false. */
export const noImages: false | string =
  missing.length > 0
    ? `images need ${missing.join(', ')}`
    : process.getuid?.() === 0
      ? false
      : 'images need root for their namespaces'

export interface ImageConfig {
  readonly User: string
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly StopSignal: string
  readonly Volumes: Readonly<Record<string, object>>
  readonly Healthcheck?: { readonly Test: readonly string[] }
}

/** Images and containers in a folder of their own, which `close` removes. */
export class Images {
  readonly folder = mkdtempSync(join(tmpdir(), 'shelftrace-images-'))
  readonly #driver = storageDriver(this.folder)

  #buildah(...args: readonly string[]): string {
    const stores = ['--root', join(this.folder, 'storage'), '--runroot', join(this.folder, 'run')]
    const env = { ...process.env, STORAGE_DRIVER: this.#driver, BUILDAH_ISOLATION: 'chroot' }
    const options = { env, encoding: 'utf8', maxBuffer: 2 ** 26, stdio: 'pipe' } as const
    return execFileSync('buildah', [...stores, ...args], options)
  }

  makeBase(): void {
    const root = join(this.folder, 'base')
    mkdirSync(root)
    makeNodeBase(root)
    const container = this.#buildah('from', 'scratch').trim()
    this.#buildah('copy', '-q', container, root, '/')
    this.#buildah('commit', '-q', '--rm', container, 'localhost/node-base')
    rmSync(root, { recursive: true })
  }

  build(target: string): void {
    const npmrc = join(homedir(), '.npmrc')
    const secret = existsSync(npmrc) ? ['--secret', `id=npmrc,src=${npmrc}`] : []
    const file = ['-f', 'deploy/Dockerfile', '--target', target, '-t', `localhost/${target}`]
    // Docker's own format has health checks, that of OCI has not.
    const how = ['-q', '--layers', '--format', 'docker', '--isolation', 'chroot']
    this.#buildah(
      'bud',
      ...how,
      '--build-arg',
      'NODE_IMAGE=localhost/node-base',
      ...secret,
      ...file,
      '.'
    )
  }

  inspect(target: string): ImageConfig {
    const text = this.#buildah('inspect', '--type', 'image', `localhost/${target}`)
    const { Docker } = JSON.parse(text) as { readonly Docker: { readonly config: ImageConfig } }
    return Docker.config
  }

  /** The folder with the files of a new container. */
  unpack(target: string): string {
    return this.#buildah('mount', this.#buildah('from', `localhost/${target}`).trim()).trim()
  }

  newVolume(name: string): string {
    const path = join(this.folder, name)
    mkdirSync(path, { mode: 0o700 })
    return path
  }

  close(): void {
    try {
      this.#buildah('umount', '--all')
    } finally {
      rmSync(this.folder, { recursive: true, force: true })
    }
  }
}

/** Layers over each other where the file system allows it; else each one is a copy of the one before, which is slow. */
function storageDriver(folder: string): 'overlay' | 'vfs' {
  const probe = `
    mkdir -p "$1/probe/lower" "$1/probe/upper" "$1/probe/work" "$1/probe/merged" && cd "$1/probe" &&
    mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work merged && umount merged`
  return spawnSync('sh', ['-c', probe, 'sh', folder]).status === 0 ? 'overlay' : 'vfs'
}

export interface ContainerPlan {
  readonly root: string
  readonly config: ImageConfig
  /** Mounted at /data. */
  readonly volume: string
  readonly user: number
  readonly env: Readonly<Record<string, string>>
}

// The script that prepares the namespaces, with the root, the volume, the user and the command as its arguments. It
// becomes the first process of the container.
const enter = `
root=$1 volume=$2 user=$3; shift 3
mount --bind "$root" "$root"
mount --bind "$volume" "$root/data"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -o remount,ro,bind "$root"
exec chroot --userspec="$user:$user" "$root" "$@"
`

export class Container {
  readonly #plan: ContainerPlan
  #child: ChildProcess | null = null
  output = ''

  constructor(plan: ContainerPlan) {
    this.#plan = plan
    chownSync(plan.volume, plan.user, plan.user)
  }

  start(): void {
    const { config } = this.#plan
    const child = this.#enter([...config.Entrypoint, ...config.Cmd])
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text))
    }
    this.#child = child
  }

  /** Sends the signal to the first process of the container; how it ended. */
  async stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | string> {
    const child = this.#child
    if (child?.pid === undefined) throw new Error('the container is not running')
    const ended = once(child, 'exit')
    const inner = execFileSync('pgrep', ['-P', String(child.pid)], { encoding: 'utf8' }).trim()
    process.kill(Number(inner), signal)
    const [code, name] = (await ended) as [number | null, string | null]
    this.#child = null
    return code ?? name ?? 'unknown'
  }

  /** Ends it without waiting, whatever it does. */
  kill(): void {
    this.#child?.kill('SIGKILL')
    this.#child = null
  }

  /** The exit code of the health check of the image, in the network of the container. */
  async checkHealth(): Promise<number | null> {
    const [, ...command] = this.#plan.config.Healthcheck?.Test ?? []
    const child = this.#enter(command)
    const [code] = (await once(child, 'exit')) as [number | null]
    return code
  }

  #enter(command: readonly string[]): ChildProcess {
    const { root, volume, user, config, env } = this.#plan
    const given = Object.entries(env).map(([name, value]) => `${name}=${value}`)
    const variables = ['env', '-i', 'HOME=/', ...config.Env, ...given]
    // When unshare is killed, the container goes with it.
    const namespaces = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-ec', enter, 'sh']
    const args = [...namespaces, root, volume, String(user), ...variables, ...command]
    return spawn('unshare', args, { stdio: ['ignore', 'pipe', 'pipe'] })
  }
}
