import { beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ElementHandle, HTTPRequest, Page } from 'puppeteer-core'
import { OAUTH } from '../../src/google-tag-manager/google-tag-manager-server.fixture.ts'
import { openSession } from '../../src/org/session.ts'
import { until } from '../run-program.ts'
import { dashboardPaths } from './dashboard-paths.ts'
import { navigateTo, waitForPage } from './navigate.ts'
import { named, openScreen, type Screen } from './screen.ts'
import { sharedHostileServer } from './server-with-hostile-texts.ts'
import { create, openAs } from './test-server.ts'

/*
 * Submits every form as it opens, with wrong values in each of its fields, and with an error of the server for each
 * field of the request. Each error must be a sentence that can be seen in the form.
 */

const SOURCES = join(import.meta.dir, '../../src/web')

interface FormCase {
  /** The file in `src/web` that renders the form. */
  of: string
  /** Path of the page, or a prefix of the path if it ends with `/` or `_`. */
  at: string
  /** Selectors that are clicked in turn to open the form. */
  opens?: readonly string[]
  /** Name of the button that submits the form. */
  submit: string
  /** Text to enter before the button can be pressed, by field. */
  given?: Record<string, string>
  /** The server must reject every submission, because an accepted one would remove what other cases need. */
  isDestructive?: boolean
  isSignedOut?: boolean
  /** The form sends a request that changes nothing (GET). */
  isRead?: boolean
  /** Answers of the server by path, on which the form depends. The page is reloaded, because it may have read others. */
  answers?: Readonly<Record<string, object>>
}

const button = (name: string) => named('button', name)
/** An option of a segmented control, whose radio button is covered by its label. */
const option = (name: string) => `.mantine-SegmentedControl-label::-p-text(${name})`
const startingWith = (name: string) => `main button[aria-label^="${name}"]`
const connect = (provider: string): FormCase => ({
  of: 'pages/integrations/integration-form.tsx',
  at: `/integrations/new?provider=${provider}`,
  submit: 'Connect',
})

const FORMS: readonly FormCase[] = [
  {
    of: 'pages/settings/collectors-page.tsx',
    at: '/settings/collectors',
    opens: [button('Add collector')],
    submit: 'Add',
    answers: { '/v1/collectors': { eventStore: 'clickhouse', version: '1', collectors: [], nextCursor: null } },
  },
  { of: 'pages/changes/changes-page.tsx', at: '/changes', opens: [button('Record a change')], submit: 'Record change' },
  { of: 'pages/issues/issue/comments.tsx', at: '/issues/iss_', submit: 'Add comment' },
  {
    of: 'pages/issues/mute-dialog.tsx',
    at: '/issues/iss_',
    opens: [button('Mute'), named('menuitem', 'Other time, reason or hosts…')],
    submit: 'Mute issue',
    isDestructive: true,
  },
  {
    of: 'components/saved-views.tsx',
    at: '/issues',
    opens: [button('Views'), named('menuitem', 'Save these filters…')],
    submit: 'Save view',
  },
  { of: 'pages/domains/add-domain-page.tsx', at: '/domains/new', submit: 'Add' },
  { of: 'pages/domains/domain/domain-settings-page.tsx', at: 'settings', submit: 'Rename domain' },
  { of: 'pages/domains/domain/domain-settings-page.tsx', at: 'settings', submit: 'Save endpoint' },
  {
    of: 'pages/domains/domain/domain-settings-page.tsx',
    at: 'settings',
    opens: [named('radio', 'Your own host, pointing to this server')],
    submit: 'Save endpoint',
  },
  { of: 'pages/domains/domain/domain-settings-page.tsx', at: 'settings', submit: 'Rotate token' },
  { of: 'pages/domains/domain/capture-form.tsx', at: 'settings', submit: 'Save capture settings' },
  { of: 'pages/domains/domain/sampling-page.tsx', at: 'sampling', submit: 'Save' },
  { of: 'pages/sign-in/sign-in-form.tsx', at: '/', submit: 'Sign in', isSignedOut: true },
  {
    of: 'pages/sign-in/sign-in-form.tsx',
    at: '/',
    opens: [button('Sign in with an API key')],
    submit: 'Sign in',
    isSignedOut: true,
    isRead: true,
  },
  { of: 'pages/sign-in/setup-and-invite-pages.tsx', at: '/setup#setup=none', submit: 'Set up', isSignedOut: true },
  { of: 'pages/sign-in/setup-and-invite-pages.tsx', at: '/invite#invite=none', submit: 'Accept', isSignedOut: true },
  { of: 'pages/sign-in/password-reset-page.tsx', at: '/reset', submit: 'Send link', isSignedOut: true },
  { of: 'pages/sign-in/password-reset-page.tsx', at: '/reset#reset=none', submit: 'Set password', isSignedOut: true },
  { of: 'pages/audits/new-audit-page.tsx', at: '/audits/new', submit: 'Start audit' },
  {
    of: 'pages/settings/ownership-page.tsx',
    at: '/settings/ownership',
    opens: [button('New rule'), button('Add a channel')],
    submit: 'Save',
  },
  { of: 'pages/settings/preferences-page.tsx', at: '/settings/preferences', submit: 'Save name' },
  { of: 'pages/settings/preferences-page.tsx', at: '/settings/preferences', submit: 'Change password' },
  {
    of: 'pages/settings/second-factor-setup.tsx',
    at: '/settings/preferences',
    opens: [button('Set up second factor')],
    submit: 'Enable second factor',
    // The form stays open, so that the button that opens it is gone.
    isDestructive: true,
  },
  {
    of: 'pages/settings/recovery-codes.tsx',
    at: '/settings/preferences',
    opens: [button('New recovery codes')],
    submit: 'Create recovery codes',
    // The form stays open, so that the button that opens it is gone.
    isDestructive: true,
    answers: { '/v1/auth/totp': { enabled: true, enabledAt: 1, recoveryCodesLeft: 9 } },
  },
  { of: 'pages/settings/digest-page.tsx', at: '/settings/digest', submit: 'Save' },
  {
    of: 'pages/settings/escalation-page.tsx',
    at: '/settings/escalation',
    opens: [button('Add a step')],
    submit: 'Save',
  },
  {
    of: 'pages/settings/calendars-page.tsx',
    at: '/settings/calendars',
    opens: [button('Add calendar')],
    submit: 'Save',
  },
  {
    of: 'pages/settings/calendars-page.tsx',
    at: '/settings/calendars',
    opens: [button('Add calendar'), option('File')],
    submit: 'Save',
  },
  { of: 'pages/settings/organization-page.tsx', at: '/settings/organization', submit: 'Save' },
  {
    of: 'pages/settings/members-page.tsx',
    at: '/settings/members',
    opens: [button('Invite a member')],
    submit: 'Send invitation',
  },
  {
    of: 'pages/settings/maintenance-form.tsx',
    at: '/settings/maintenance',
    opens: [button('Add window')],
    submit: 'Save',
  },
  {
    of: 'pages/settings/api-keys-page.tsx',
    at: '/settings/keys',
    opens: [button('New API key')],
    submit: 'Make the key',
  },
  { of: 'pages/settings/projects-page.tsx', at: '/settings/projects', opens: [button('New project')], submit: 'Save' },
  {
    of: 'pages/settings/projects-page.tsx',
    at: '/settings/projects',
    opens: [startingWith('Edit')],
    submit: 'Save',
  },
  ...['team_chat', 'office_chat', 'issue_tracker', 'tag_manager', 'webhook'].map(connect),
  { of: 'pages/integrations/integration-form.tsx', at: '/integrations/int_', submit: 'Save' },
  { of: 'pages/integrations/provider-actions.tsx', at: 'team_chat', submit: 'Save channel' },
  { of: 'pages/integrations/deploy-tag-form.tsx', at: 'tag_manager', submit: 'Deploy tag' },
  { of: 'pages/tests/test-form.tsx', at: '/tests/new', submit: 'Save test' },
  { of: 'pages/tests/test-form.tsx', at: '/tests/tst_', submit: 'Save' },
  {
    of: 'pages/tests/recording/import-recording.tsx',
    at: '/tests/new',
    submit: 'Draft from session',
    given: { 'Session ID': 'none' },
  },
  { of: 'pages/tests/run/share-dialog.tsx', at: '/tests/runs/', opens: [button('Share run')], submit: 'Create link' },
  {
    of: 'pages/explore/event-labels-page.tsx',
    at: '/explore/labels',
    opens: [button('New label')],
    submit: 'Save label',
  },
  {
    of: 'pages/explore/event-labels-page.tsx',
    at: '/explore/labels',
    opens: [startingWith('Add event to')],
    submit: 'Save label',
  },
  {
    of: 'pages/explore/order-capture-rules.tsx',
    at: '/explore/orders',
    opens: [button('New rule'), button('Add a channel')],
    submit: 'Save',
  },
  { of: 'pages/alerts/editor/use-saving.ts', at: '/alerts/new', submit: 'Save and enable' },
  {
    of: 'pages/alerts/editor/use-saving.ts',
    at: '/alerts/new',
    opens: [option('JSON')],
    submit: 'Save as disabled',
  },
  { of: 'pages/alerts/editor/use-saving.ts', at: '/alerts/alr_', submit: 'Save and enable' },
  { of: 'pages/alerts/import-dialog.tsx', at: '/alerts', opens: [button('Import')], submit: 'Import alerts' },
  {
    of: 'components/confirm-dialog.tsx',
    at: '/settings/keys',
    opens: [startingWith('Revoke')],
    submit: 'Revoke key',
    isDestructive: true,
  },
]

/** Shared parts of forms, and what defines them. */
const SHARED = ['components/form.tsx', 'components/use-form-fields.ts', 'pages/sign-in/sign-in-card.tsx']

const here = sharedHostileServer()
let signedIn: Screen
/** Pages of items, and of integrations by provider. */
let paths: readonly string[]
const itemPaths = new Map<string, string>()
/** Fields of request bodies by operation, such as `POST /v1/alerts`; `{}` stands for an id. */
const bodies = new Map<string, string[]>()

beforeAll(async () => {
  const { app } = here.server
  const { userId } = app.owner
  for (const [provider, config] of [
    ['team_chat', { botToken: 'xoxb-1' }],
    ['tag_manager', OAUTH],
  ] as const) {
    itemPaths.set(provider, `/integrations/${(await create(app, '/v1/integrations', { provider, config })).id}`)
  }
  paths = await dashboardPaths(async (path) => (await app.call('GET', path)).body)
  const { domains } = (await app.call('GET', '/v1/domains?limit=200')).body
  for (const page of ['settings', 'sampling']) itemPaths.set(page, `/domains/${domains[0].id}/${page}`)
  const { tests } = (await app.call('GET', '/v1/flows/tests')).body
  itemPaths.set('/tests/tst_', `/tests/${tests[0].id}`)
  readBodies((await app.call('GET', '/openapi.json')).body)
  signedIn = await openScreen(here.server.url, here.browser.browser)
  await signedIn.page.setViewport({ width: 1280, height: 900 })
  // Changing a password and setting up a second factor require a session and a password.
  const passwordHash = await Bun.password.hash('correct horse', { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 })
  app.app.db.prepare('UPDATE user SET passwordHash = ? WHERE id = ?').run(passwordHash, userId)
  await openAs(signedIn, openSession(app.app.db, app.clock, userId, 'password').token, '/')
  await waitForPage(signedIn.page)
})

type Json = Record<string, unknown>
type Schema = { $ref?: string; properties?: Record<string, Schema>; items?: Schema; anyOf?: Schema[] }

function readBodies(api: { paths: Record<string, Record<string, Json>>; components: { schemas: Json } }): void {
  const resolved = (schema: Schema): Schema =>
    schema.$ref ? (api.components.schemas[schema.$ref.split('/').at(-1) ?? ''] as Schema) : schema
  const fieldsOf = (given: Schema, path: string, depth: number): string[] => {
    const { properties = {}, items, anyOf = [] } = resolved(given)
    const own = path === '' ? [] : [path]
    if (depth === 0) return own
    return [
      ...own,
      ...Object.entries(properties).flatMap(([name, part]) =>
        fieldsOf(part, path ? `${path}.${name}` : name, depth - 1),
      ),
      ...(items ? fieldsOf(items, `${path}[0]`, depth - 1) : []),
      ...anyOf.flatMap((part) => fieldsOf(part, path, depth)),
    ]
  }
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, { requestBody }] of Object.entries(methods)) {
      const content = (requestBody as Json | undefined)?.content as Record<string, { schema: Schema }> | undefined
      const schema = content?.['application/json']?.schema
      const key = `${method.toUpperCase()} ${path.replace(/\{[^}]+\}/g, '{}')}`
      bodies.set(key, schema ? [...new Set(fieldsOf(schema, '', 4))] : [])
    }
  }
}

/** The fields of the body of a request. */
function fieldsOfRequest(request: HTTPRequest): string[] {
  const path = new URL(request.url()).pathname.split('/')
  const fits = (template: string) => {
    const parts = template.split('/')
    return parts.length === path.length && parts.every((part, index) => part === '{}' || part === path[index])
  }
  const key = [...bodies.keys()].find((one) => one.startsWith(`${request.method()} `) && fits(one.split(' ')[1] ?? ''))
  return bodies.get(key ?? '') ?? []
}

/** Requests that a form sends while it is filled in. */
const PREVIEWS = ['/v1/alerts/preview', '/v1/alerts/backtest']

/** Watches the writing requests of a page, and answers them with the error that is set. */
async function intercept(page: Page, { isRead, answers = {} }: FormCase) {
  const state = { refusal: null as string | null, sent: [] as HTTPRequest[], answered: 0, errors: [] as string[] }
  const isWrite = (request: HTTPRequest) => {
    const { pathname } = new URL(request.url())
    if (isRead) return pathname === '/v1/whoami'
    return pathname.startsWith('/v1/') && request.method() !== 'GET' && !PREVIEWS.includes(pathname)
  }
  const onRequest = (request: HTTPRequest) => {
    // The server of the test is set up, so its set-up page would show the sign-in form.
    if (request.url().endsWith('/v1/auth/methods')) {
      const body = JSON.stringify({ password: true, setUp: page.url().includes('/setup'), oidc: null })
      return request.respond({ status: 200, contentType: 'application/json', body })
    }
    const answer = request.method() === 'GET' && answers[new URL(request.url()).pathname]
    if (answer) return request.respond({ status: 200, contentType: 'application/json', body: JSON.stringify(answer) })
    if (isWrite(request)) state.sent.push(request)
    if (state.refusal === null || !isWrite(request)) return request.continue()
    return request.respond({
      status: 400,
      contentType: 'application/json',
      body: JSON.stringify({ error: state.refusal }),
    })
  }
  const onResponse = async (response: Awaited<ReturnType<Page['waitForResponse']>>) => {
    if (!isWrite(response.request())) return
    if (response.status() >= 400) state.errors.push(((await response.json()) as { error: string }).error)
    state.answered++
  }
  page.on('request', onRequest)
  page.on('response', onResponse)
  await page.setRequestInterception(true)
  return {
    state,
    async [Symbol.asyncDispose]() {
      await page.setRequestInterception(false)
      page.off('request', onRequest)
      page.off('response', onResponse)
    },
  }
}

/** The element whose text must contain the error: the form, dialog or group of the button. */
const SCOPE = 'form, [role=dialog], fieldset'

type Button = ElementHandle<HTMLButtonElement>

const shownText = (pressed: Button) =>
  // biome-ignore lint/performance/useDomNodeTextContent: it contains hidden text
  pressed.evaluate((element, scope) => (element.closest(scope) as HTMLElement | null)?.innerText ?? '', SCOPE)

/** Returns the texts of the errors in the form that can be seen. */
const shownErrors = (pressed: Button) =>
  pressed.evaluate((element, scope) => {
    const errors =
      element.closest(scope)?.querySelectorAll<HTMLElement>('[role=alert], .mantine-InputWrapper-error') ?? []
    return [...errors].flatMap((one) => (one.checkVisibility() && one.textContent.trim() ? [one.textContent] : []))
  }, SCOPE)

const isIdle = (pressed: Button) =>
  pressed.evaluate((element) => !element.isConnected || element.dataset.loading === undefined)

const spaced = (text: string) => text.replace(/\s+/g, ' ').trim()
const withoutField = (error: string) => error.replace(/^`?[\w.[\]-]+`?:? /, '')

async function openForm(screen: Screen, { at, opens = [], submit, given = {}, isSignedOut, answers }: FormCase) {
  const { page } = screen
  if (isSignedOut) {
    await page.goto('about:blank')
    await page.goto(here.server.url + at)
  } else {
    if (answers) {
      await page.reload()
      await waitForPage(page)
    }
    const isPrefix = /[_/]$/.test(at) && at !== '/'
    const path = itemPaths.get(at) ?? (isPrefix ? paths.find((one) => one.startsWith(at)) : at)
    if (path === undefined) throw new Error(`the server has no page ${at}`)
    await navigateTo(page, path)
  }
  for (const opener of opens) await (await page.waitForSelector(opener))?.click()
  for (const [name, text] of Object.entries(given)) await screen.type(name, text)
  const found = await page.waitForSelector(button(submit))
  if (!found) throw new Error(`there is no button ${submit}`)
  return found as Button
}

/** Fields that can be filled in with text. */
const FILLED =
  'textarea, input:not([type=hidden], [type=checkbox], [type=radio], [type=file], [type=search], [readonly], :disabled)'

const fieldsIn = async (pressed: Button) =>
  (await pressed.evaluateHandle((element, scope) => element.closest(scope), SCOPE)).asElement()?.$$(FILLED) as Promise<
    ElementHandle<HTMLInputElement>[]
  >

test('the list contains every file with a form', () => {
  const files = [...new Bun.Glob('**/*.{ts,tsx}').scanSync(SOURCES)].filter((path) =>
    /<(?:Entry)?Form\b(?! *submission: )|\buse(?:Submit|FormFields)(?:<\w+>)?\(/.test(
      readFileSync(join(SOURCES, path), 'utf8'),
    ),
  )
  expect(files.filter((path) => !SHARED.includes(path)).toSorted()).toEqual(
    [...new Set(FORMS.map(({ of }) => of))].toSorted(),
  )
})

for (const form of FORMS) {
  const title = `${form.of} at ${form.at}: ${[...(form.opens ?? []).slice(1), form.submit].join(', ')}`
  test(`shows every error: ${title}`, async () => {
    const own = form.isSignedOut ? await openScreen(here.server.url, here.browser.browser) : null
    await using _closed = own
    const screen = own ?? signedIn
    const { page } = screen
    await using watched = await intercept(page, form)
    const { state } = watched
    /** Presses the button. Returns what is wrong with the result; null if nothing is. */
    const faultOf = async (pressed: Button): Promise<string | null> => {
      const [sent, errors] = [state.sent.length, state.errors.length]
      await pressed.evaluate((element) => element.click())
      await until('the end of the request', () => isIdle(pressed))
      if (state.sent.length === sent) return (await shownErrors(pressed)).length > 0 ? null : 'nothing is shown'
      await until('the answer', () => state.answered === state.sent.length)
      const error = state.errors[errors]
      if (error === undefined) return null
      const text = spaced(await shownText(pressed))
      const isShown = [error, withoutField(error)].some((one) => text.includes(spaced(one)))
      return isShown ? null : `not shown: ${error}`
    }
    const faults: string[] = []
    const check = async (what: string, pressed: Button) => {
      const fault = await faultOf(pressed)
      if (fault !== null) faults.push(`${what}: ${fault}`)
    }
    const opened = await openForm(screen, form)
    if (!form.isRead) {
      state.refusal = 'is refused by this test'
      await check('no field', opened)
      const fields = state.sent[0] ? fieldsOfRequest(state.sent[0]) : []
      for (const field of ['unknown.field', ...fields]) {
        state.refusal = `${field}: must not be ${field} in this test`
        await check(field, opened)
      }
      state.refusal = null
    }
    if (!form.isDestructive) {
      const reopened = await openForm(screen, form)
      const count = (await fieldsIn(reopened)).length
      await check('as opened', reopened)
      for (let index = 0; index < count; index++) {
        for (const value of [' ', '-1', 'not {right']) {
          const pressed = await openForm(screen, form)
          const field = (await fieldsIn(pressed))[index]
          if (!field) continue
          await field.evaluate((element) => {
            element.focus()
            element.select()
          })
          await page.keyboard.type(value)
          await check(`${value} in field ${index}`, pressed)
        }
      }
    }
    expect(faults).toEqual([])
  })
}
