import { chmodSync, existsSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { unpackedChromium } from './chromium.ts'

/** The sandbox requires the zygote process. Only root runs Chromium without a sandbox. */
const ZYGOTE = process.getuid?.() === 0 ? '--no-zygote' : ''

/**
 * Returns the path of the executable that tests use as the installed Chromium: `TEST_CHROMIUM`, or by default the one
 * from the npm package.
 */
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
  // Other processes must not see a partial file.
  renameSync(own, path)
  return path
}
