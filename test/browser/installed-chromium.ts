import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fontsIn, unpackInto } from './chromium.ts'

let installed: Promise<string> | null = null

/**
 * Returns the path of a Chromium's executable, as if it was installed. It is unpacked from its npm package once for the
 * process, which costs seconds and 180 MB, and gone with the process.
 */
export function installedChromium(): Promise<string> {
  installed ??= install()
  return installed
}

async function install(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tagwarden-chromium-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const { executablePath, libraries } = await unpackInto(folder)
  const path = join(folder, 'installed')
  const lines = [
    '#!/bin/sh',
    `export FONTCONFIG_FILE='${fontsIn(folder)}'`,
    `export LD_LIBRARY_PATH='${libraries}'`,
    `exec '${executablePath}' --no-zygote --disable-gpu "$@"`,
  ]
  writeFileSync(path, `${lines.join('\n')}\n`)
  chmodSync(path, 0o755)
  return path
}
