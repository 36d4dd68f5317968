import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import chromium, { inflate } from '@sparticuz/chromium'
import puppeteer, { type Browser } from 'puppeteer-core'
import { devDependencies } from '../../package.json' with { type: 'json' }
import { temporaryFolder } from '../run-program.ts'

/** A headless Chromium that can reach only this machine. Disposing it deletes its files. */
export interface TestBrowser extends AsyncDisposable {
  browser: Browser
}

/** Time limit for a start, a navigation or a `waitFor…` call. */
const WAIT_MS = 60_000

const ARGS = [
  '--no-sandbox',
  '--no-zygote',
  '--disable-gpu',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
]

/** Starts the Chromium from the npm package. The arguments in `more` come last, so that they override the defaults. */
export async function startBrowser(more: readonly string[] = []): Promise<TestBrowser> {
  const folder = temporaryFolder()
  try {
    const { executablePath, libraries, fonts } = await unpackedChromium()
    const env = { HOME: folder.path, TMPDIR: folder.path, FONTCONFIG_FILE: fonts }
    const args = [...ARGS, ...more]
    const launch = (searchPath: Record<string, string>) =>
      puppeteer.launch({ executablePath, args, headless: 'shell', timeout: WAIT_MS, env: { ...env, ...searchPath } })
    const browser = await launch({}).catch(() => launch({ LD_LIBRARY_PATH: libraries }))
    const newPage = browser.newPage.bind(browser)
    browser.newPage = async (options) => {
      const page = await newPage(options)
      page.setDefaultTimeout(WAIT_MS)
      return page
    }
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

/** An unpacked Chromium. */
export interface UnpackedChromium {
  executablePath: string
  /** Folder with the required libraries, for systems that lack them. */
  libraries: string
  /**
   * Path of a font configuration. Chromium crashes without fonts, and the package's own configuration lists only
   * `/tmp/fonts`.
   */
  fonts: string
}

/** Located next to the installed packages, so that it is deleted with them. */
const FOLDER = resolve(import.meta.dir, `../../node_modules/.cache/chromium-${devDependencies['@sparticuz/chromium']}`)

/**
 * Returns the Chromium from the npm package. It is unpacked once for all processes, which takes several seconds and 180
 * MB.
 */
export async function unpackedChromium(): Promise<UnpackedChromium> {
  if (!existsSync(FOLDER)) await unpack()
  return {
    executablePath: join(FOLDER, 'chromium'),
    libraries: join(FOLDER, 'al2023/lib'),
    fonts: join(FOLDER, 'fonts.conf'),
  }
}

async function unpack(): Promise<void> {
  mkdirSync(dirname(FOLDER), { recursive: true })
  const own = mkdtempSync(`${FOLDER}-`)
  try {
    await unpackInto(own)
    const fonts = `<fontconfig><dir>${FOLDER}/fonts</dir><cachedir>${FOLDER}/font-cache</cachedir></fontconfig>`
    writeFileSync(join(own, 'fonts.conf'), fonts)
    renameSync(own, FOLDER)
  } catch (error) {
    rmSync(own, { recursive: true, force: true })
    // Another process may have unpacked it first.
    if (!existsSync(FOLDER)) throw error
  }
}

/** Unpacks into `folder`, because the package uses the temporary folder and trusts any files already there. */
async function unpackInto(folder: string): Promise<void> {
  const before = process.env.TMPDIR
  process.env.TMPDIR = folder
  try {
    const libraries = inflate(join(import.meta.dir, '../../node_modules/@sparticuz/chromium/bin/al2023.tar.br'))
    await chromium.executablePath()
    await libraries
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
}
