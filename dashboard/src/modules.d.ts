/** The terms of the glossary, which `vite.config.ts` reads. */
declare module '*/GLOSSARY.md?terms' {
  const terms: readonly import('../terms.ts').Term[]
  export default terms
}

/** A document as HTML. */
declare module '*.md?page' {
  const html: string
  export default html
}
