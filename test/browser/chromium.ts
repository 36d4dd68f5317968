import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import chromium, { inflate } from '@sparticuz/chromium'
import puppeteer, { type Browser } from 'puppeteer-core'
import { temporaryFolder } from '../process.ts'

/** A headless Chromium that reaches nothing but this machine. It and its files are gone at the end of the block. */
export interface TestBrowser extends AsyncDisposable {
  browser: Browser
}

const ARGS = [
  '--no-sandbox',
  '--no-zygote',
  '--disable-gpu',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
]

/**
 * Unpacks the Chromium that comes with its npm package, and starts it. The libraries that it needs come with it too, for
 * systems that lack them. Of arguments that say the same, the last counts: `more` come last.
 */
export async function startBrowser(more: readonly string[] = []): Promise<TestBrowser> {
  const folder = temporaryFolder()
  try {
    const { executablePath, libraries } = await unpackInto(folder.path)
    const env = { HOME: folder.path, TMPDIR: folder.path, FONTCONFIG_FILE: fontsIn(folder.path) }
    const args = [...ARGS, ...more]
    const launch = (searchPath: Record<string, string>) =>
      puppeteer.launch({ executablePath, args, headless: 'shell', env: { ...env, ...searchPath } })
    const browser = await launch({}).catch(() => launch({ LD_LIBRARY_PATH: libraries }))
    return {
      browser,
      async [Symbol.asyncDispose]() {
        await browser.close()
        folder[Symbol.dispose]()
      },
    }
  } catch (error) {
    folder[Symbol.dispose]()
    throw error
  }
}

/** Chromium dies where it finds no font. The package's own list of font folders knows only `/tmp/fonts`. */
export function fontsIn(folder: string): string {
  const path = join(folder, 'fonts.conf')
  writeFileSync(path, `<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/font-cache</cachedir></fontconfig>`)
  return path
}

/** The package unpacks to the folder for temporary files, and takes what it finds there for whole and its own. */
export async function unpackInto(folder: string): Promise<{ executablePath: string; libraries: string }> {
  const before = process.env.TMPDIR
  process.env.TMPDIR = folder
  try {
    const libraries = inflate(join(import.meta.dir, '../../node_modules/@sparticuz/chromium/bin/al2023.tar.br'))
    const executablePath = await chromium.executablePath()
    return { executablePath, libraries: join(await libraries, 'lib') }
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
}
