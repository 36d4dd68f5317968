import { chmodSync, existsSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { unpackedChromium } from './chromium.ts'

/** Returns the path of a Chromium's executable, as if it was installed. */
export async function installedChromium(): Promise<string> {
  const { executablePath, libraries, fonts } = await unpackedChromium()
  const path = join(dirname(executablePath), 'installed')
  if (existsSync(path)) return path
  const lines = [
    '#!/bin/sh',
    `export FONTCONFIG_FILE='${fonts}'`,
    `export LD_LIBRARY_PATH='${libraries}'`,
    `exec '${executablePath}' --no-zygote --disable-gpu "$@"`,
  ]
  const own = `${path}-${process.pid}`
  writeFileSync(own, `${lines.join('\n')}\n`)
  chmodSync(own, 0o755)
  // Others see it whole or not at all.
  renameSync(own, path)
  return path
}
