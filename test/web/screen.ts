import type { BrowserContext, Page } from 'puppeteer-core'
import { startBrowser } from '../browser/chromium.ts'

/** A page of the dashboard as a person has it before them: things have roles and names. */
export interface Screen extends AsyncDisposable {
  page: Page
  /** Errors of scripts and of the console, and answers that failed; of the latter also those that a test wants. */
  errors: string[]
  /** Origins that the page origins. */
  origins: Set<string>
  /** Opens an address anew, as from a link elsewhere. */
  open(path: string): Promise<void>
  /** Types into the field of this name, in the place of what was there. */
  type(name: string, text: string): Promise<void>
  /** The role of the field of this name: of a text, a choice, a number. */
  roleOfField(name: string): Promise<string>
  /** Presses the button, or the thing of another role, of this name. */
  press(name: string, role?: string): Promise<void>
  /** Waits until something of this role and name is there. */
  sees(role: string, name: string): Promise<void>
  /** Waits until the page says this. */
  reads(text: string): Promise<void>
  /** True when something of this role and name is there now. */
  has(role: string, name: string): Promise<boolean>
}

/** Puppeteer's selector of what has this role and name. */
export const named = (role: string, name: string) => `aria/[name=${JSON.stringify(name)}][role=${JSON.stringify(role)}]`

const FIELD_ROLES = ['textbox', 'searchbox', 'combobox', 'spinbutton']

/** The field of this name, as soon as it is there, and which of the roles it has. */
async function fieldOf(page: Page, name: string) {
  const found = new AbortController()
  const { signal } = found
  const find = async (role: string) => ({ role, field: await page.waitForSelector(named(role, name), { signal }) })
  try {
    return await Promise.any(FIELD_ROLES.map(find))
  } finally {
    found.abort()
  }
}

/** Opens a tab of its own browser, or of the one given, for the server at `url`. */
export async function openScreen(url: string, shared: Pick<BrowserContext, 'newPage'> | null = null): Promise<Screen> {
  const own = shared ? null : await startBrowser()
  const browser = shared ?? own?.browser
  if (!browser) throw new Error('there is no browser')
  const page = await browser.newPage()
  const errors: string[] = []
  const origins = new Set<string>()
  page.on('request', (request) => {
    if (!/^(?:data|blob):/.test(request.url())) origins.add(new URL(request.url()).origin)
  })
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(`${message.text()} ${message.location().url}`)
  })
  return {
    page,
    errors,
    origins,
    async open(path) {
      await page.goto('about:blank')
      await page.goto(url + path)
    },
    async type(name, text) {
      const { field } = await fieldOf(page, name)
      await field?.click({ count: 3 })
      await page.keyboard.type(text)
    },
    roleOfField: async (name) => (await fieldOf(page, name)).role,
    async press(name, role = 'button') {
      for (;;) {
        const found = await page.waitForSelector(named(role, name))
        try {
          return await found?.click()
        } catch (error) {
          // Drawn anew since it was found: as people do, press what is there now.
          if (!String(error).includes('detached')) throw error
        }
      }
    },
    async sees(role, name) {
      await page.waitForSelector(named(role, name))
    },
    async reads(text) {
      await page.waitForFunction((text) => document.body.textContent?.includes(text), {}, text)
    },
    has: async (role, name) => (await page.$(named(role, name))) !== null,
    async [Symbol.asyncDispose]() {
      await page.close()
      await own?.[Symbol.asyncDispose]()
    },
  }
}
