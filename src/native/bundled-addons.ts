import type { PackedFile } from './unpack-files.ts'

/** A native addon in the executable, with the libraries that it loads. */
interface BundledAddon {
  /** Changes with the content of the files. */
  version: string
  /** The addon is the last file. The system's loader looks for libraries next to it, by file name. */
  files: readonly PackedFile[]
}

/** The embedded addons. Empty in the source; `build.ts` replaces this module with one that embeds the files. */
export const bundledAddons: Readonly<Record<string, BundledAddon>> = {}
