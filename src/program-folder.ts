/**
 * The folder of this file, in the sources and as built: the build joins modules, but leaves their files side by side
 * at the top of its folder. Files that belong to the program are found from here.
 */
export const programFolder = new URL('.', import.meta.url)
