import { readFile } from 'node:fs/promises'
import { htmlOf } from './documents.ts'
import { termsOf } from './terms.ts'
import { defineConfig, type HtmlTagDescriptor, type Plugin } from 'vite'

/** The page and what it imports are asked for together with the language, and run after it (`main.tsx`). */
const preloadPage: Plugin = {
  name: 'preload-page',
  transformIndexHtml: {
    order: 'post',
    handler: (_, { bundle = {} }) =>
      Object.values(bundle)
        .flatMap((file) =>
          file.type === 'chunk' && file.facadeModuleId?.endsWith('/app.tsx')
            ? [file.fileName].concat(file.imports)
            : []
        )
        .map((fileName): HtmlTagDescriptor => ({
          tag: 'link',
          injectTo: 'head',
          attrs: { rel: 'modulepreload', crossorigin: true, href: `./${fileName}` },
        })),
  },
}

/** `GLOSSARY.md?terms`: no more of it than the pages explain. */
const readTerms: Plugin = {
  name: 'read-terms',
  async load(id) {
    const [file = '', query] = id.split('?')
    if (query !== 'terms') return null
    this.addWatchFile(file)
    return `export default ${JSON.stringify(termsOf(await readFile(file, 'utf8')))}`
  },
}

/** `CHANGELOG.md?page`: as HTML. */
const readDocuments: Plugin = {
  name: 'read-documents',
  async load(id) {
    const [file = '', query] = id.split('?')
    if (query !== 'page') return null
    this.addWatchFile(file)
    return `export default ${JSON.stringify(htmlOf(await readFile(file, 'utf8')))}`
  },
}

export default defineConfig({
  plugins: [preloadPage, readTerms, readDocuments],
  // Relative, so that the dashboard also works under a prefix that a proxy adds.
  base: './',
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    // light-dark() as it is written: charts ask the browser for the colours it gives.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    modulePreload: { polyfill: false },
    // Inlined files would be data: addresses, which the policy of the page allows for images only.
    assetsInlineLimit: 0,
    // The notices that the libraries inside ask for.
    license: { fileName: 'licenses.md' },
    reportCompressedSize: false,
    // How long a plugin takes says nothing about the result.
    rolldownOptions: {
      checks: { pluginTimings: false },
      output: {
        // Ad blockers know `ad-server` and the like in the name of a file.
        chunkFileNames: ({ facadeModuleId }) =>
          facadeModuleId?.endsWith('.md?page') === true
            ? 'assets/document-[hash].js'
            : 'assets/[name]-[hash].js',
      },
    },
  },
})
