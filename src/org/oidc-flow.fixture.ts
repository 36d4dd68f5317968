import { expect } from 'bun:test'
import { Elysia } from 'elysia'
import type { JWTPayload } from 'jose'
import { type Cast, cast, client, memoryDb, type TestClock, testBox, testClock } from '../../test/fixtures.ts'
import type { OidcSettings } from '../config.ts'
import { noteAddress } from '../http/client-info.ts'
import { answerErrors } from '../http/error-responses.ts'
import { performer } from '../http/perform-call.ts'
import { router } from '../http/router.ts'
import type { Db } from '../store/database.ts'
import { type NewAuditEntry, writeAuditEntry } from './audit-log.ts'
import { authenticator } from './authenticate.ts'
import { findMember } from './member-store.ts'
import {
  CLIENT_ID,
  CLIENT_SECRET,
  fakeBrowser,
  type OpenIdProvider,
  openIdProvider,
  type ProviderBehaviour,
} from './oidc.fixture.ts'
import { companySignIn, type OidcRouteDeps, oidcRoutes } from './oidc-routes.ts'
import { signInLimits } from './sign-in.ts'

export const PUBLIC_URL = 'https://watch.example'
export const START = '/v1/auth/oidc/start'
export const CALLBACK = '/v1/auth/oidc/callback'
export const ADDRESS = '192.0.2.7'

const ROLES = [
  { group: 'staff', role: 'viewer' },
  { group: 'Web Analytics/Editors', role: 'member' },
  { group: 'admins', role: 'admin' },
  { group: 'board', role: 'owner' },
] as const

export const zoe = { sub: 'u-zoe', email: 'zoe@example.com', email_verified: true, name: 'Zoe', groups: ['staff'] }

interface Options {
  settings?: Partial<OidcSettings>
  publicUrl?: string
  perMinute?: number
  timeoutS?: number
  off?: boolean
  secret?: string
}

export interface SetUp {
  db: Db
  clock: TestClock
  cast: Cast
  provider: OpenIdProvider
  behaviour: ProviderBehaviour
  parts: OidcRouteDeps
  /** Handles requests to hosts other than the provider. By default, all such requests fail. */
  elsewhere: { answer: (url: URL, headers: Record<string, string>) => Response | Promise<Response> }
  warnings: string[]
  entries: NewAuditEntry[]
  browser: ReturnType<typeof fakeBrowser>
  newBrowser(): ReturnType<typeof fakeBrowser>
  get(url: string, headers?: Record<string, string>): Promise<Response>
  call: ReturnType<typeof client>
  [Symbol.asyncDispose](): Promise<void>
}

/** Creates an organization with its users, a provider, and a browser that connects to both. */
export async function setUp(options: Options = {}): Promise<SetUp> {
  const { settings = {}, publicUrl = PUBLIC_URL, perMinute = 1000, off = false, secret = CLIENT_SECRET } = options
  const db = memoryDb()
  const clock = testClock()
  const people = cast(db, clock)
  const provider = await openIdProvider({ clock, secret })
  provider.behaviour.claims = zoe
  const warnings: string[] = []
  const entries: NewAuditEntry[] = []
  const elsewhere: SetUp['elsewhere'] = {
    answer: (url) => {
      throw new Error(`no response from ${url.host}`)
    },
  }
  const company = companySignIn(
    {
      issuer: provider.issuer,
      clientId: CLIENT_ID,
      clientSecret: secret,
      name: 'Acme ID',
      groupsClaim: 'groups',
      roles: ROLES,
      orgId: people.orgId,
      ...settings,
    },
    {
      clock,
      warn: (message) => warnings.push(message),
      timeoutS: options.timeoutS ?? 10,
      // The application's own function for outgoing requests is tested separately.
      request: async (url, { method, headers, body, signal }) =>
        url.startsWith(`${provider.issuer}/`)
          ? fetch(url, {
              method,
              headers,
              redirect: 'manual',
              ...(body ? { body: String(body) } : {}),
              ...(signal ? { signal } : {}),
            })
          : elsewhere.answer(new URL(url), headers),
    },
  )
  const parts: OidcRouteDeps = {
    db,
    box: testBox,
    clock,
    publicUrl,
    limits: signInLimits(clock, perMinute),
    audit(entry) {
      entries.push(entry)
      writeAuditEntry(db, clock, entry)
    },
    company: off ? null : company,
  }
  const bugs: unknown[] = []
  const pages = answerErrors(new Elysia({ normalize: false }), (error) => bugs.push(error)).use(
    router(oidcRoutes(parts), {
      authenticate: authenticator({ db, clock }),
      perform: performer({ db, audit: () => undefined }),
    }),
  )
  const handle = async (request: Request) => {
    // Rewrites the URL like a proxy that serves the public URL.
    const inside = new Request(request.url.replace(publicUrl, 'http://inside'), request)
    noteAddress(inside, ADDRESS)
    const response = await pages.handle(inside)
    const bug = bugs.pop()
    if (bug !== undefined) throw new Error(`${request.url} failed with a bug`, { cause: bug })
    return response
  }
  const newBrowser = () => fakeBrowser(publicUrl, handle)
  return {
    db,
    clock,
    cast: people,
    provider,
    behaviour: provider.behaviour,
    elsewhere,
    parts,
    warnings,
    entries,
    newBrowser,
    browser: newBrowser(),
    get: (url, headers = {}) => handle(new Request(publicUrl + url, { headers })),
    call: client({ db, clock }, ...oidcRoutes(parts)),
    [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose](),
  }
}

export type Outcome = { code: string } | { refusal: string }

/** Returns the code or error in the URL of the final page. */
export function outcomeOf(location: string): Outcome {
  const { origin, pathname, search, hash } = new URL(location)
  expect([origin, pathname, search]).toEqual([PUBLIC_URL, '/', ''])
  const [, name, value = ''] = /^#([a-z-]+)=(.*)$/.exec(hash) ?? []
  if (name === 'signin') {
    expect(value).toMatch(/^[\w-]{43}$/)
    return { code: value }
  }
  expect(name).toBe('signin-error')
  return { refusal: decodeURIComponent(value) }
}

/** Completes a sign-in, from the sign-in button to the final page. */
export async function walk({ browser }: Pick<SetUp, 'browser'>): Promise<Outcome> {
  const toProvider = await browser.follow(PUBLIC_URL + START)
  const back = await browser.follow(toProvider)
  return outcomeOf(await browser.follow(back))
}

export async function refusalOf(parts: Pick<SetUp, 'browser'>): Promise<string> {
  const outcome = await walk(parts)
  return 'refusal' in outcome ? outcome.refusal : 'let in'
}

export async function signInAs(parts: SetUp, claims: JWTPayload) {
  parts.behaviour.claims = claims
  const outcome = await walk(parts)
  if ('refusal' in outcome) throw new Error(outcome.refusal)
  const answer = await parts.call('POST', '/v1/auth/oidc/session', { body: { code: outcome.code }, address: ADDRESS })
  expect(answer.status).toBe(200)
  return answer.body
}

export const principalOf = ({ db, clock }: SetUp, token: string, orgId?: string) =>
  authenticator({ db, clock })(
    new Headers({ authorization: `Bearer ${token}`, ...(orgId === undefined ? {} : { 'x-org-id': orgId }) }),
  )

export const roleIn = ({ db, cast: { orgId } }: SetUp, id: string) => findMember(db, { orgId, id }).role
export const countOf = ({ db }: SetUp, table: string) =>
  (db.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n
