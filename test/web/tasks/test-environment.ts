import { join } from 'node:path'
import { startBrowser } from '../../browser/chromium.ts'
import { ask, initialize, type Server, type Surroundings, startServer, temporaryFolder } from '../../run-program.ts'
import { openScreen, type Screen } from '../screen.ts'
import { type Keyboard, keyboardOf } from './keyboard.ts'

export const OWNER = { email: 'a@example.com', password: 'correct horse battery' }

/** A server, run from source or as the executable, with browsers for its users. Disposing it stops the server. */
export interface TestEnvironment extends AsyncDisposable {
  url: string
  /** The owner's API key. */
  apiKey: string
  /** Calls the API as the owner. Throws for an error status. */
  call(method: string, path: string, body?: object): ReturnType<typeof ask>
  /** Creates a session for the owner and returns its token. */
  session(): Promise<string>
  /** Creates a domain whose token is used to send events. */
  createShop(name?: string): Promise<Shop>
  /** Creates an alert that fires when an event with this name is sent without an order id. */
  createAlert(name: string, event: string, more?: object): Promise<void>
  /**
   * Opens a separate browser for a user who is signed in with `credential`. Default: the owner's API key. Null: not
   * signed in.
   */
  person(path: string, credential?: string | null): Promise<Person>
  /** Stops the server with a signal and starts it again at the same address. */
  restart(meanwhile?: () => unknown): Promise<void>
}

export interface Shop {
  id: string
  token: string
  /** Sends an event with these parameters from a page of the shop. */
  send(event: string, params: Readonly<Record<string, string>>): Promise<void>
}

export interface Person extends Screen, Keyboard {
  /** Opens another tab in the same browser. */
  openTab(path: string): Promise<Screen & Keyboard>
}

export async function startEnvironment(around: Surroundings = {}): Promise<TestEnvironment> {
  const folder = temporaryFolder()
  const data = join(folder.path, 'data')
  const [apiKey, browser] = await Promise.all([initialize(data, OWNER.password), startBrowser()])
  let server: Server = await startServer(data, around)
  const { url } = server
  const call: TestEnvironment['call'] = (method, path, body) => ask(method, url + path, apiKey, body)
  return {
    url,
    apiKey,
    call,
    session: async () => (await ask('POST', `${url}/v1/auth/login`, '', OWNER)).token,
    async createShop(name = 'shop.example') {
      const { id, token } = await call('POST', '/v1/domains', { name })
      const page = { url: `https://${name}/checkout` }
      return {
        id,
        token,
        async send(event, params) {
          await ask('POST', `${url}/api/v1/events`, token, { page, events: [{ vendor: 'Shop', event, params }] })
        },
      }
    },
    async createAlert(name, event, more = {}) {
      await call('POST', '/v1/alerts', {
        name,
        alertType: 'data_validation',
        severity: 'critical',
        period: '1h',
        filters: [{ parameter: '$event', op: 'equals', values: [event] }],
        conditions: { logic: 'any', items: [{ parameter: 'order_id', op: 'is_blank' }] },
        channels: [{ type: 'email', target: OWNER.email }],
        ...more,
      })
    },
    async person(path, credential = apiKey) {
      const context = await browser.browser.createBrowserContext()
      const tab = async (): Promise<Screen & Keyboard> => {
        const screen = await openScreen(url, context)
        await screen.page.setViewport({ width: 1280, height: 800 })
        return { ...screen, ...keyboardOf(screen) }
      }
      const screen = await tab()
      if (credential !== null) await signIn(screen, credential)
      await screen.open(path)
      return {
        ...screen,
        async openTab(path) {
          const other = await tab()
          await other.open(path)
          return other
        },
        async [Symbol.asyncDispose]() {
          await screen[Symbol.asyncDispose]()
          await context.close()
        },
      }
    },
    async restart(meanwhile) {
      await server.stop()
      await meanwhile?.()
      server = await startServer(data, { ...around, listen: new URL(url).host })
    },
    async [Symbol.asyncDispose]() {
      await browser[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

/** Stores the credential as the dashboard does: a key for one tab, a session for all tabs. */
async function signIn({ page, open }: Screen, credential: string): Promise<void> {
  await open('/')
  await page.evaluate((credential) => {
    const store = credential.startsWith('st_') ? localStorage : sessionStorage
    store.setItem('tagwarden-session', JSON.stringify({ credential, orgId: null }))
  }, credential)
}
