// What has to hold before a release: each check returns its faults as sentences, none if all is well.
import { git } from './commit.ts'
import type { Lock, Manifest } from './packages.ts'

/** Of the packages that are installed with ours. A new one is read by a person before it is added here. */
const allowedLicences: ReadonlySet<string> = new Set([
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'Unlicense',
])

export function versionFaults(
  manifests: readonly Manifest[],
  clientVersion: string
): readonly string[] {
  const [service] = manifests
  if (service === undefined) return ['there is no package']
  const said = manifests.map(({ name, version }) => ({ name, version }))
  return [...said, { name: 'clientVersion in src/client/caller.ts', version: clientVersion }]
    .filter(({ version }) => version !== service.version)
    .map(({ name, version }) => `${name} is ${version}, and ${service.name} is ${service.version}`)
}

/** The version has a dated section that begins with upgrade notes, and nothing waits for a later one. */
export function changelogFaults(changelog: string, version: string): readonly string[] {
  const sections = changelog.split(/^(?=## )/mu)
  const find = (title: string) => sections.find((section) => section.startsWith(`## [${title}]`))
  const faults: string[] = []
  if (/^- /mu.test(find('Unreleased') ?? '')) {
    faults.push(`[Unreleased] has entries; move them into the section of ${version}`)
  }
  const section = find(version)
  if (section === undefined) return [...faults, `there is no section ## [${version}]`]
  const date = /^## \[[^\]]+\] - (?<date>\d{4}-\d{2}-\d{2})$/mu.exec(section)?.groups?.['date']
  if (date === undefined || !isDay(date)) {
    faults.push(`the section of ${version} needs its date: ## [${version}] - YYYY-MM-DD`)
  }
  if (!section.includes('\n### Upgrade notes\n')) {
    faults.push(`the section of ${version} has no ### Upgrade notes`)
  }
  if (!/^- /mu.test(section)) faults.push(`the section of ${version} is empty`)
  return faults
}

function isDay(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text)
}

/** Of a lock file without development packages, such as the published one. */
export function licenceFaults(lock: Lock): readonly string[] {
  return Object.entries(lock.packages)
    .filter(([path]) => path !== '')
    .filter(([, { license }]) => license === undefined || !isAllowed(license))
    .map(([path, { license }]) => `${path} has the licence ${license ?? 'of nobody'}: read it`)
}

/** Of an expression all parts have to be allowed, also those between which one may choose. */
function isAllowed(licence: string): boolean {
  return licence
    .replaceAll(/[()]/gu, '')
    .split(/ (?:AND|OR) /u)
    .every((part) => allowedLicences.has(part))
}

interface Component {
  readonly 'bom-ref'?: unknown
  readonly name?: unknown
  readonly version?: unknown
  readonly purl?: unknown
  readonly licenses?: readonly unknown[]
}

export interface Sbom {
  readonly bomFormat?: unknown
  readonly specVersion?: unknown
  readonly serialNumber?: unknown
  readonly metadata?: { readonly component?: Component }
  readonly components?: readonly Component[]
  readonly dependencies?: readonly {
    readonly ref: string
    readonly dependsOn?: readonly string[]
  }[]
}

/** A list in the form of CycloneDX 1.5 or later with every package of the published lock, and no other. */
export function sbomFaults(sbom: Sbom, lock: Lock): readonly string[] {
  const { components = [], dependencies = [] } = sbom
  const faults: string[] = []
  if (sbom.bomFormat !== 'CycloneDX' || !/^1\.[5-9]$/u.test(String(sbom.specVersion))) {
    faults.push('the SBOM is not CycloneDX 1.5 or later')
  }
  if (!/^urn:uuid:[0-9a-f-]{36}$/u.test(String(sbom.serialNumber))) {
    faults.push('the SBOM has no serial number')
  }
  const subject = sbom.metadata?.component
  if (subject?.purl !== `pkg:npm/${lock.name}@${lock.version}`) {
    faults.push(`the SBOM is not of ${lock.name}@${lock.version}`)
  }
  const listed = new Set(
    components.map(({ name, version }) => `${String(name)}@${String(version)}`)
  )
  const locked = new Set(
    Object.entries(lock.packages)
      .filter(([path]) => path !== '')
      .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`)
  )
  for (const one of locked) if (!listed.has(one)) faults.push(`the SBOM lacks ${one}`)
  for (const one of listed) if (!locked.has(one)) faults.push(`the SBOM has ${one}, which we lack`)
  for (const { name, purl, licenses } of components) {
    if (typeof purl !== 'string' || (licenses ?? []).length === 0) {
      faults.push(`the SBOM gives no purl or no licence of ${String(name)}`)
    }
  }
  const known = new Set([...components, subject].map((component) => component?.['bom-ref']))
  for (const { ref, dependsOn = [] } of dependencies) {
    const strange = [ref, ...dependsOn].filter((one) => !known.has(one))
    for (const one of strange) faults.push(`the SBOM refers to ${one}, which it does not list`)
  }
  return faults
}

/** A release is a commit that others can get, under a tag that is not taken. */
export function gitFaults(folder: string, version: string): readonly string[] {
  const changed = git(folder, 'status', '--porcelain')
  if (changed === null) return ['this is no clone of the repository']
  const faults = changed === '' ? [] : [`not committed: ${changed.split('\n').join(', ')}`]
  const tag = `v${version}`
  return git(folder, 'tag', '--list', tag) === '' ? faults : [...faults, `the tag ${tag} is taken`]
}
