import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fontsIn, unpackInto } from './chromium.ts'

/**
 * Unpacks the Chromium that comes with its npm package into the folder, as if it was installed there, and returns the path of
 * its executable. It costs seconds and 180 MB: once for a test file.
 */
export async function installChromium(folder: string): Promise<string> {
  const { executablePath, libraries } = await unpackInto(folder)
  const path = join(folder, 'chromium.sh')
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
