import { afterAll, beforeAll } from 'bun:test'
import { issueOfAlert, validationAlert } from '../../src/issues/issue.fixture.ts'
import type { IssueRecord } from '../../src/issues/issue.ts'
import { applyChanges } from '../../src/issues/store.ts'
import { createKey } from '../../src/org/api-key-store.ts'
import { addMember, createUser } from '../../src/org/store.ts'
import { tx } from '../../src/store/database.ts'
import { type TestApp, testApp } from '../test-app.ts'
import { openScreen, type Screen } from './screen.ts'

/** The program, served at a URL by the test's process, with responses that tests can control. */
export interface TestServer extends AsyncDisposable {
  app: TestApp
  url: string
  /** Stores issues as if alerts had opened them. The first issue in the list is the most recent. */
  openIssues(issues: readonly Partial<IssueRecord>[]): void
  /** Creates a member with this role and returns the member's API key. */
  keyOf(role: 'viewer' | 'member'): string
  /** Number of open streams. */
  streams(): number
  /** Number of streams opened since the start. */
  streamsOpened(): number
  /** Closes all streams. */
  endStreams(): void
  /** Makes requests that start with `METHOD /path` fail with this error. Null restores normal responses. */
  refuse(path: string | null, status?: number, sentence?: string): void
  /** Processes requests that start with `METHOD /path`, but delays their responses until they are released. */
  hold(path: string): Held
}

/** Delayed responses. */
interface Held {
  /** Returns the number of delayed responses. */
  count(): number
  /** Sends the delayed responses and stops delaying new ones. */
  release(): void
}

/** Provides a server and a page that all tests in a file share. */
export function sharedTestServer(): { readonly server: TestServer; readonly screen: Screen } {
  const here = {} as { server: TestServer; screen: Screen }
  beforeAll(async () => {
    here.server = await startTestServer()
    here.screen = await openScreen(here.server.url)
  })
  afterAll(async () => {
    await here.screen?.[Symbol.asyncDispose]()
    await here.server?.[Symbol.asyncDispose]()
  })
  return here
}

/** Starts the program with these settings and sets its clock to the current time. */
export async function startTestServer(settings: Parameters<typeof testApp>[0] = {}): Promise<TestServer> {
  const app = await testApp(settings)
  app.clock.set(Date.now())
  let refused: { path: string; status: number; sentence: string } | null = null
  const streams = new Set<AbortController>()
  let held: { path: string; count: number; released: PromiseWithResolvers<void> } | null = null
  const respond = async (request: Request) => {
    const answer = await app.app.fetch(request)
    if (held && `${request.method} ${new URL(request.url).pathname}`.startsWith(held.path)) {
      held.count++
      await held.released.promise
    }
    return answer
  }
  let opened = 0
  const stream = (request: Request) => {
    const end = new AbortController()
    opened++
    streams.add(end)
    request.signal.addEventListener('abort', () => streams.delete(end))
    return app.app.fetch(new Request(request, { signal: AbortSignal.any([request.signal, end.signal]) }))
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch(request) {
      const { pathname } = new URL(request.url)
      if (refused && `${request.method} ${pathname}`.startsWith(refused.path)) {
        return Response.json({ error: refused.sentence }, { status: refused.status })
      }
      return pathname === '/v1/stream' ? stream(request) : respond(request)
    },
  })
  const { orgId } = app.owner
  return {
    app,
    url: server.url.origin,
    openIssues(issues) {
      const at = app.clock.now()
      tx(app.app.db, () => {
        for (const [index, values] of issues.entries()) {
          const times = { firstSeenAt: at - 3_600_000, lastSeenAt: at - index * 1000, statusAt: at }
          const ids = { id: `iss_${index}`, orgId, domainId: null, alertId: `alr_${index}` }
          const issue = issueOfAlert({ ...validationAlert, orgId }, { ...ids, ...times, ...values })
          applyChanges(app.app.db, [{ kind: 'open', issue }], () => {})
        }
      })
    },
    keyOf(role) {
      const { db } = app.app
      const { id: userId } = createUser(db, app.clock, { email: `${role}@example.com` })
      addMember(db, app.clock, { orgId, userId, role })
      return createKey(db, app.clock, { userId, orgId, name: role, expiresInDays: null }).secret
    },
    streams: () => streams.size,
    streamsOpened: () => opened,
    endStreams() {
      for (const end of streams) end.abort()
      streams.clear()
    },
    refuse(path, status = 503, sentence = 'not now') {
      refused = path === null ? null : { path, status, sentence }
    },
    hold(path) {
      const mine = { path, count: 0, released: Promise.withResolvers<void>() }
      held = mine
      return {
        count: () => mine.count,
        release() {
          mine.released.resolve()
          if (held === mine) held = null
        },
      }
    },
    async [Symbol.asyncDispose]() {
      held?.released.resolve()
      await server.stop(true)
      await app[Symbol.asyncDispose]()
    },
  }
}

/** Creates an item through the API as the owner and returns it. Throws an error with the server's message. */
export async function create(app: TestApp, path: string, body: object, method: 'POST' | 'PATCH' = 'POST') {
  const answer = await app.call(method, path, { body })
  if (answer.status >= 300) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** Opens a path with the user signed in by this API key. */
export async function openAs(screen: Screen, key: string, path: string): Promise<void> {
  await screen.page.evaluateOnNewDocument(
    (session) => {
      if (location.protocol === 'http:') sessionStorage.setItem('tagwarden-session', session)
    },
    JSON.stringify({ credential: key, orgId: null }),
  )
  await screen.open(path)
}
