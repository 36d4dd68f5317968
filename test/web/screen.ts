import type { BrowserContext, Page } from 'puppeteer-core'
import { startBrowser } from '../browser/chromium.ts'

/** A dashboard page as a user perceives it. Methods find elements by role and accessible name. */
export interface Screen extends AsyncDisposable {
  page: Page
  /** Script and console errors, including failed requests caused by a test. */
  errors: string[]
  /** Origins to which the page has sent requests. */
  origins: Set<string>
  /** Opens a path as if through a link on another site. */
  open(path: string): Promise<void>
  /** Types into the field with this name, replacing its value. */
  type(name: string, text: string): Promise<void>
  /** The role of the field with this name: text field, select or number field. */
  roleOfField(name: string): Promise<string>
  /** Clicks the button with this name, or an element with the given role. */
  press(name: string, role?: string): Promise<void>
  /** Waits for an element with this role and name. */
  sees(role: string, name: string): Promise<void>
  /** Waits until the page contains this text. */
  reads(text: string): Promise<void>
  /** Returns whether there is currently an element with this role and name. */
  has(role: string, name: string): Promise<boolean>
}

/** Returns a Puppeteer selector for elements with this role and name. */
export const named = (role: string, name: string) => `aria/[name=${JSON.stringify(name)}][role=${JSON.stringify(role)}]`

const FIELD_ROLES = ['textbox', 'searchbox', 'combobox', 'spinbutton']

/** Waits for the field with this name. Returns its element and role. */
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

/** Opens a tab for the server at `url`, in the given browser or, by default, in a new one. */
export async function openScreen(url: string, shared: Pick<BrowserContext, 'newPage'> | null = null): Promise<Screen> {
  const own = shared ? null : await startBrowser()
  const browser = shared ?? own?.browser
  if (!browser) throw new Error('the browser is not running')
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
          // The element was re-rendered after it was found, so the click is repeated.
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
