import { join } from 'node:path'
import { bundledAddons } from './bundled-addons.ts'
import { cacheFolders, unpack } from './unpack-files.ts'

/** Unpacks all embedded addons and loads them. Does nothing when the program runs from source. */
export function loadAllAddons(): void {
  for (const name of Object.keys(bundledAddons)) loadAddon(name)
}

/**
 * Loads an addon that is embedded in the executable. The system's loader can open only files on disk, so its files are
 * unpacked first. Throws if that is impossible.
 */
export function loadAddon(name: string): unknown {
  const { version = '', files = [] } = bundledAddons[name] ?? {}
  return unpack(files, version, cacheFolders(process.env), (folder) => {
    const module = { exports: {} }
    process.dlopen(module, join(folder, files.at(-1)?.name ?? ''))
    return module.exports
  })
}
