/** The terms of the glossary, which `vite.config.ts` reads. */
declare module '*/GLOSSARY.md?terms' {
  const terms: readonly import('../terms.ts').Term[]
  export default terms
}
