import { chmodSync, existsSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { unpackedChromium } from './chromium.ts'

/** The sandbox, which only root goes without, needs it. */
const ZYGOTE = process.getuid?.() === 0 ? '--no-zygote' : ''

/** Returns the path of a Chromium's executable, as if it was installed: the one that `TEST_CHROMIUM` names, else that of the npm package. */
export async function installedChromium(): Promise<string> {
  if (process.env.TEST_CHROMIUM) return process.env.TEST_CHROMIUM
  const { executablePath, libraries, fonts } = await unpackedChromium()
  const path = join(dirname(executablePath), 'installed')
  if (existsSync(path)) return path
  const lines = [
    '#!/bin/sh',
    `export FONTCONFIG_FILE='${fonts}'`,
    `export LD_LIBRARY_PATH='${libraries}'`,
    `exec '${executablePath}' ${ZYGOTE} --disable-gpu "$@"`,
  ]
  const own = `${path}-${process.pid}`
  writeFileSync(own, `${lines.join('\n')}\n`)
  chmodSync(own, 0o755)
  // Others see it whole or not at all.
  renameSync(own, path)
  return path
}
