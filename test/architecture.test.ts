import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { Glob } from 'bun'
import { migrations } from '../migrations/index.ts'
import { memoryDb } from './fixtures.ts'

const ROOT = join(import.meta.dir, '..')

/** Source folders in the order in which data passes through them. A file directly in `src` also counts as a folder. */
const ROOMS = [
  'core',
  'contract',
  'production',
  'store',
  'native',
  'http',
  'openapi',
  'build',
  'jobs',
  'mail',
  'transport',
  'setting-source',
  'setting-values',
  'config',
  'base',
  'org',
  'managed',
  'domains',
  'labels',
  'saved-views',
  'calendars',
  'maintenance',
  'decoders',
  'visitor',
  'capture',
  'ingest',
  'collectors',
  'warehouse',
  'conditions',
  'history-base',
  'detector',
  'signals',
  'alerts',
  'issues',
  'evaluation',
  'integrations',
  'compliance',
  'orders',
  'changes',
  'segments',
  'insights',
  'order-capture',
  'browser',
  'flows',
  'gate',
  'audits',
  'shares',
  'evidence',
  'google-tag-manager',
  'digest',
  'connectors',
  'search',
  'forms',
  'stream',
  'data-folder',
  'backups',
  'mcp',
  'configuration',
  'health',
  'api',
  'app',
  'collect',
  'commands',
  'main',
]
/**
 * Folders whose code runs in browsers. They may import only types from other folders, except from `SHARED`, which the
 * server and the pages have in common.
 */
const IN_BROWSERS = ['script', 'web']
const SHARED = 'contract'
/** Files shared by tests whose name is not `<name>.fixture.ts`. */
const FOR_TESTS = ['src/decoders/decoder-cases.ts', 'src/conditions/rule-reference.ts']
/**
 * All modules of the program that use the network. Only `outbound-connection.ts` opens connections, except for connections to
 * the operator's mail server.
 */
const CONNECTING = [
  // Accepts connections from the browser.
  'src/browser/guard-proxy.ts: node:net',
  'src/transport/address-guard.ts: node:dns/promises',
  // Uses a connection that its caller has opened.
  'src/transport/http-request.ts: node:http',
  'src/transport/mail-transport.ts: nodemailer',
  'src/transport/outbound-connection.ts: node:net',
  'src/transport/outbound-connection.ts: node:tls',
  // Reads the list of trusted certificate authorities.
  'src/transport/trusted-certificates.ts: node:tls',
]

const list = (pattern: string) => [...new Glob(pattern).scanSync({ cwd: ROOT })].sort()
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const isForTests = (path: string) =>
  /\.(test|fixture)\.tsx?$/.test(path) || path.startsWith('test/') || FOR_TESTS.includes(path)
const roomOf = (path: string) => path.split('/')[1]?.replace(/(?:\.test)?\.tsx?$/, '') ?? ''

interface Import {
  /** Path from the project root for a file, otherwise the name of the package. */
  target: string
  typeOnly: boolean
  /** True for an import that is loaded only when it is needed. */
  isLazy?: true
}

const STATEMENT =
  /^\s*(?:import|export)\s+(?:(type)\s)?(?:[\w*{][^'"`;]*?\sfrom\s*)?(['"])([^'"\n]+)\2|\bimport\(\s*(['"])([^'"\n]+)\4\s*\)/gm

/** Returns the imports of a file, including type imports, which Bun's import scanner omits. */
function importsOf(path: string, source: string): Import[] {
  return [...source.matchAll(STATEMENT)].map(([, type, , fixed, , dynamic]) => {
    const target = fixed ?? dynamic ?? ''
    return {
      target: target.startsWith('.') ? relative(ROOT, join(ROOT, dirname(path), target)) : target,
      typeOnly: type !== undefined,
      ...(dynamic === undefined ? {} : { isLazy: true as const }),
    }
  })
}

const sources = list('src/**/*.{ts,tsx}')
  .filter((path) => !path.endsWith('.d.ts'))
  .map((path) => ({ path, room: roomOf(path), source: read(path) }))
  .map((file) => ({ ...file, imports: importsOf(file.path, file.source) }))
const production = sources.filter(({ path }) => !isForTests(path))
const program = production.filter(({ room }) => !IN_BROWSERS.includes(room))

/** Returns the reason why the import is not allowed; null when it is allowed. */
function faultOf(room: string, { target, typeOnly }: Import): string | null {
  if (!target.startsWith('src/')) return null
  const other = roomOf(target)
  if (IN_BROWSERS.includes(room))
    return other === room || other === SHARED || typeOnly ? null : `${room} can import only types`
  // A bundled browser page that is imported as a string.
  if (IN_BROWSERS.includes(other)) return /\.(?:html|js|css)$/.test(target) ? null : `${other} runs in browsers`
  return ROOMS.indexOf(other) <= ROOMS.indexOf(room) ? null : `${other} comes after ${room}`
}

test.each<[string, Import[]]>([
  [`import { a } from './b.ts'`, [{ target: 'src/x/b.ts', typeOnly: false }]],
  [`import type { A } from "../y/b.ts"`, [{ target: 'src/y/b.ts', typeOnly: true }]],
  [`import {\n  a,\n  type B,\n} from './b.ts'`, [{ target: 'src/x/b.ts', typeOnly: false }]],
  [`import a, * as b from 'elysia'`, [{ target: 'elysia', typeOnly: false }]],
  [`import './b.ts'`, [{ target: 'src/x/b.ts', typeOnly: false }]],
  [
    `export { a } from './b.ts'\nexport * from './c.ts'`,
    ['b', 'c'].map((b) => ({ target: `src/x/${b}.ts`, typeOnly: false })),
  ],
  [`export type { A } from './b.ts'`, [{ target: 'src/x/b.ts', typeOnly: true }]],
  [`const { a } = await import('./b.ts')`, [{ target: 'src/x/b.ts', typeOnly: false, isLazy: true }]],
  [`import page from './b.html' with { type: 'text' }`, [{ target: 'src/x/b.html', typeOnly: false }]],
  [`const text = 'from'\nexport const sql = \`SELECT * FROM 'b'\``, []],
])('the import scanner parses %j', (source, expected) => {
  expect(importsOf('src/x/a.ts', source)).toEqual(expected)
})

test('the import scanner finds the same imports as the transpiler', () => {
  for (const { path, source, imports } of sources) {
    const transpiler = new Bun.Transpiler({ loader: path.endsWith('.tsx') ? 'tsx' : 'ts' })
    const found = new Set(imports.map(({ target }) => target))
    for (const { path: target } of transpiler.scanImports(source)) {
      // Imports that are generated for JSX.
      if (path.endsWith('.tsx') && /^react(?:$|\/jsx)/.test(target)) continue
      expect(found).toContain(target.startsWith('.') ? join(dirname(path), target) : target)
    }
  }
})

describe('source folders', () => {
  test.each<[string, string, boolean, boolean]>([
    ['issues', 'src/alerts/finding.ts', false, true],
    ['alerts', 'src/alerts/alert-period.ts', false, true],
    ['alerts', 'src/issues/issue.ts', false, false],
    ['alerts', 'src/issues/issue.ts', true, false],
    ['core', 'src/app.ts', false, false],
    ['web', 'src/issues/issue.ts', true, true],
    ['web', 'src/issues/issue.ts', false, false],
    ['web', 'src/contract/roles.ts', false, true],
    ['contract', 'src/http/route.ts', true, false],
    ['http', 'src/web/index.html', false, true],
    ['http', 'src/web/main.tsx', false, false],
    ['core', 'elysia', false, true],
  ])('allow %s to import %s (type only: %p): %p', (room, target, typeOnly, allowed) => {
    expect(faultOf(room, { target, typeOnly }) === null).toBe(allowed)
  })

  test('include every file', () => {
    const known = [...ROOMS, ...IN_BROWSERS]
    expect(sources.filter(({ room }) => !known.includes(room)).map(({ path }) => path)).toEqual([])
  })

  test('import only earlier folders', () => {
    const faults = sources.flatMap(({ path, room, imports }) =>
      imports.flatMap((one) => {
        const fault = faultOf(room, one)
        return fault ? [`${path} imports ${one.target}: ${fault}`] : []
      }),
    )
    expect(faults).toEqual([])
  })

  test('have no import cycles', () => {
    const targets = new Map(production.map(({ path, imports }) => [path, imports.map(({ target }) => target)]))
    const state = new Map<string, 'open' | 'done'>()
    const circles: string[] = []
    const visit = (path: string, way: readonly string[]) => {
      if (state.get(path) === 'done') return
      if (state.get(path) === 'open') return void circles.push([...way.slice(way.indexOf(path)), path].join(' → '))
      state.set(path, 'open')
      for (const target of targets.get(path) ?? []) if (targets.has(target)) visit(target, [...way, path])
      state.set(path, 'done')
    }
    for (const path of targets.keys()) visit(path, [])
    expect(circles).toEqual([])
  })

  test('do not depend on the engine behind the warehouse', () => {
    const isEngines = (target: string) => /^(?:src\/warehouse\/(?:duckdb|clickhouse)|@duckdb)\//.test(target)
    const others = production.filter(
      ({ room, imports }) => !['warehouse', 'native'].includes(room) && imports.some(({ target }) => isEngines(target)),
    )
    expect(others.map(({ path }) => path)).toEqual([])
    // The warehouse modules that do not depend on the engine.
    const choosing = [
      'src/warehouse/open-warehouse.ts',
      'src/warehouse/inspect-warehouse-folder.ts',
      'src/warehouse/open-segment-outlet.ts',
    ]
    const ofAny = production.filter(({ path }) => /^src\/warehouse\/[^/]+$/.test(path) && !choosing.includes(path))
    expect(ofAny.length).toBeGreaterThan(0)
    const faults = ofAny.filter(({ imports }) => imports.some(({ target }) => isEngines(target)))
    expect(faults.map(({ path }) => path)).toEqual([])
  })

  test.each<[string, string[]]>([
    ['integrations', ['message', 'providers', 'context', 'delivery', 'status', 'inbound']],
    ['web', ['messages', 'theme', 'state', 'url-state', 'api', 'components', 'charts', 'pages', 'shell']],
  ])('in %s import only earlier ones', (room, order) => {
    const folderOf = (path: string) => RegExp(`^src/${room}/([^/]+)/`).exec(path)?.[1]
    const inFolders = production.flatMap((file) => {
      const folder = folderOf(file.path)
      return folder === undefined ? [] : [{ ...file, folder }]
    })
    expect([...new Set(inFolders.map(({ folder }) => folder))].sort()).toEqual(order.toSorted())
    const faults = inFolders.flatMap(({ path, folder, imports }) =>
      imports
        .filter(({ target }) => order.indexOf(folderOf(target) ?? '') > order.indexOf(folder))
        .map(({ target }) => `${path} imports ${target}`),
    )
    expect(faults).toEqual([])
  })

  test('import only files that exist', () => {
    const missing = sources.flatMap(({ path, imports }) =>
      imports.filter(({ target }) => target.startsWith('src/') && !existsSync(join(ROOT, target))).map(() => path),
    )
    expect(missing).toEqual([])
  })

  test('have names that describe their content', () => {
    const vague = ['utils', 'services', 'helpers', 'common', 'lib']
    const folders = new Set(list('src/**/*').flatMap((path) => dirname(path).split('/')))
    expect(vague.filter((name) => folders.has(name))).toEqual([])
    const files = sources.map(({ path }) => basename(path).split('.')[0] ?? '')
    expect(vague.filter((name) => files.includes(name))).toEqual([])
  })
})

describe('the program', () => {
  const follow = (path: string, reached: Set<string>, lazily: boolean) => {
    if (reached.has(path)) return
    reached.add(path)
    for (const { target, isLazy } of importsOf(path, /\.tsx?$/.test(path) ? read(path) : '')) {
      const isOurs = target.startsWith('src/') || target.startsWith('test/')
      if (isOurs && (lazily || !isLazy)) follow(target, reached, lazily)
    }
  }
  const reached = new Set<string>()
  /** Modules that are loaded by every command. The demo's modules are excluded, except for the one that starts it. */
  const loaded = new Set(['src/commands/demo/run-demo.ts'])
  follow('src/main.ts', loaded, true)
  const build = [...list('*.ts'), 'src/build/executable.ts'].map(read).join()
  for (const { path } of program) if (path === 'src/main.ts' || build.includes(path)) follow(path, reached, true)

  test('imports nothing that exists only for tests', () => {
    expect([...reached].filter(isForTests)).toEqual([])
    const direct = [...reached].filter((path) =>
      importsOf(path, read(path)).some(({ target }) => target === 'bun:test'),
    )
    expect(direct).toEqual([])
  })

  test('has no file that is used only by tests', () => {
    // The pages use some files of the contract that the server doesn't use.
    const used = new Set(reached)
    follow('src/web/main.tsx', used, true)
    const isUnused = (path: string) => !used.has(path)
    expect(program.map(({ path }) => path).filter(isUnused)).toEqual([])
  })

  test('imports only packages that are installed with it', () => {
    const { dependencies, optionalDependencies } = JSON.parse(read('package.json')) as {
      [kind: string]: Record<string, string>
    }
    const strangersOf = (paths: Iterable<string>, known: object) =>
      [...paths].flatMap((path) =>
        importsOf(path, /\.tsx?$/.test(path) ? read(path) : '')
          .map(({ target }) => target)
          .filter((target) => !/^(?:src|migrations|docs\/[\w/-]+\.md$|node:|bun$|bun:ffi$|package\.json)/.test(target))
          .filter((target) => !Object.hasOwn(known, packageOf(target)) && !target.startsWith(ENGINE))
          .map((target) => `${path} imports ${target}`),
      )
    expect(strangersOf(reached, { ...dependencies, ...optionalDependencies })).toEqual([])
    // Packages that only the demo needs must not be loaded by other commands.
    expect(strangersOf(loaded, dependencies ?? {})).toEqual([])
  })

  test('has no file longer than 500 lines', () => {
    const long = production.filter(({ source }) => source.split('\n').length > 501).map(({ path }) => path)
    expect(long).toEqual([])
  })

  test('reads the time only from the clock', () => {
    const asks = /\bDate\.now\(|\bnew Date\(\)|\bperformance\.timeOrigin\b|\bTemporal\.Now\b/
    const others = program.filter(
      ({ path, source }) => asks.test(withoutComments(source)) && path !== 'src/core/clock.ts',
    )
    expect(others.filter(({ room }) => room !== 'commands').map(({ path }) => path)).toEqual([])
  })

  test('lists every optimisation, with its gain', () => {
    const marked = [...production, { path: 'build.ts', source: read('build.ts') }]
      .filter(({ source }) => source.includes('// Optimisation: see docs/develop/tuning.md'))
      .map(({ path }) => path)
    const [table = ''] = read('docs/develop/tuning.md').split('## Deleted')
    const listed = [...table.matchAll(/^\| `(\S+)`/gm)].map(([, path]) => path)
    expect(listed.sort()).toEqual(marked.sort())
  })

  test('opens connections in one module, and resolves names in one module', () => {
    const clients = /^(?:node:)?(?:http|https|http2|net|tls|dgram|dns|dns\/promises)$|^(?:undici|nodemailer)$/
    const found = program.flatMap(({ path, imports }) =>
      imports.flatMap(({ target, typeOnly }) => (clients.test(target) && !typeOnly ? [`${path}: ${target}`] : [])),
    )
    expect(found).toEqual(CONNECTING)
  })

  test("uses the runtime's fetch, which obeys HTTP_PROXY and NO_PROXY, only in commands run by hand", () => {
    // `fetch(request)` followed by a body or a type declares a method. `fetch()` calls a parameter of a function.
    const fetches =
      /(?:(?<![.\w])|\b(?:globalThis|Bun)\.)fetch\((?!\)|\w+(?:: \w+)?(?:, \w+)?\)\s*[:{])|\bBun\.(?:connect|udpSocket)\(/
    const users = program.filter(({ source }) => fetches.test(withoutComments(source))).map(({ path }) => path)
    expect(users).toEqual([
      'src/commands/demo/run-demo.ts',
      'src/commands/import-har.ts',
      'src/commands/server-client.ts',
    ])
  })

  test('starts every process with a restricted environment', () => {
    const starts = /\bspawn(?:Sync)?\(/g
    const all = program.flatMap(({ path, source }) => [...withoutComments(source).matchAll(starts)].map(() => path))
    const listed = program.flatMap(({ path, source }) =>
      [...withoutComments(source).matchAll(/\benv: (?:workerEnv|childEnv)\(/g)].map(() => path),
    )
    expect(all.length).toBeGreaterThan(2)
    expect(listed).toEqual(all)
  })
})

/**
 * Folders whose SQL statements use each SQLite table. The first folder writes the table and the others read it. `+`
 * marks another folder that also writes it. The history's files are stored in the tables of the manifest, whose names
 * are inserted by `manifest-table.ts`.
 */
const TABLES: Record<string, string> = {
  alert: 'alerts evaluation integrations search',
  apiKey: 'org',
  auditEntry: 'org',
  audit: 'audits',
  // Rows are deleted together with their audit.
  auditPage: 'audits',
  backup: 'backups',
  batch: 'ingest',
  batchGeneration: 'ingest',
  calendar: 'calendars',
  calendarDay: 'calendars',
  change: 'changes search',
  clockJump: 'signals',
  clockStep: 'store',
  collector: 'collectors',
  collectorSegment: 'collectors',
  // Exists on collectors only. `data-folder` looks for it, to tell their folders from those of servers.
  collectorState: 'collect data-folder',
  consentCursor: 'compliance',
  // Rows are deleted together with their domain.
  consentDay: 'compliance',
  consentHour: 'compliance',
  countedName: 'warehouse search',
  deletedOrg: 'org ingest',
  delivery: 'integrations health',
  // Rows are deleted together with their delivery.
  deliveryAttempt: 'integrations',
  digestMail: 'digest',
  // Rows are deleted together with their membership.
  digestSubscription: 'digest',
  domain:
    'domains alerts changes collectors compliance digest evidence health insights issues ingest maintenance org search stream warehouse',
  domainVendor: 'domains search',
  escalation: 'issues',
  eventFile: 'warehouse',
  finding: 'compliance',
  findingDomain: 'compliance',
  findingPage: 'compliance',
  flowRun: 'flows',
  flowRunDetail: 'flows',
  flowTest: 'flows',
  flowVersion: 'flows',
  folderMark: 'store',
  gateRun: 'gate',
  heartbeat: 'signals',
  hostname: 'domains changes',
  // Rows are deleted together with their organization.
  hostnameUsage: 'domains +org',
  identity: 'org',
  importedFile: 'ingest',
  // Rows are deleted together with their domain.
  importedSpan: 'ingest',
  // Rows are deleted together with their integration.
  inboundCall: 'integrations',
  integration: 'integrations',
  // Rows are deleted together with their integration.
  integrationRecord: 'integrations',
  // Integrations write the columns for messages that the throttle withheld and sent.
  issue: 'issues +integrations evaluation search',
  issueComment: 'issues',
  issueHistory: 'issues changes integrations',
  issueMemory: 'integrations',
  issueOccurrence: 'issues',
  label: 'labels',
  labelMember: 'labels',
  lateSpan: 'collectors',
  lateWindow: 'evaluation',
  maintenance: 'maintenance',
  // Rows are deleted together with their item.
  managedItem: 'managed',
  member: 'org digest integrations search',
  migratedDay: 'warehouse',
  // Rows are deleted together with their rule.
  orderCaptureCount: 'order-capture',
  // Rows are deleted together with their organization or domain.
  orderCaptureRule: 'order-capture',
  operatorAlarm: 'health',
  retentionLimit: 'store',
  org: 'org calendars collect domains data-folder',
  orgEscalation: 'issues',
  // Rows are deleted together with their organization, domain, project or label.
  ownershipRule: 'issues',
  pageFile: 'warehouse',
  passwordReset: 'org',
  pipelineGap: 'signals',
  project: 'domains',
  providerCall: 'integrations',
  // Rows are deleted together with their domain.
  recoveryCode: 'org',
  rejection: 'ingest +domains',
  releaseScan: 'changes',
  releaseSeen: 'changes',
  rollupFile: 'warehouse',
  savedView: 'saved-views',
  // Rows of `rowVersion` are written by triggers.
  rowFeed: 'collectors',
  rowVersion: 'collectors',
  segment: 'warehouse',
  session: 'org',
  share: 'shares',
  // Rows are deleted together with their domain.
  shopOrder: 'orders',
  signalAlert: 'alerts',
  signalSetting: 'signals',
  startTask: 'data-folder',
  // Rows are written by triggers.
  total: 'health backups',
  totp: 'org',
  usage: 'ingest alerts domains',
  user: 'org digest integrations issues search',
  warehouseEngine: 'warehouse',
  warehouseMigration: 'warehouse',
  // Rows are deleted together with their issue.
  withheldIssue: 'integrations',
}

describe('database tables', () => {
  const statement = /\b(?:(INTO|UPDATE(?: OR \w+)?|DELETE FROM)|FROM|JOIN)\s+(\w+)/g
  const named = program.flatMap(({ room, path, source }) =>
    [...withoutComments(source).matchAll(statement)].flatMap(([, writing, table = '']) =>
      Object.hasOwn(TABLES, table) ? [{ room, path, table, writes: writing !== undefined }] : [],
    ),
  )

  test('are all listed', () => {
    const made = memoryDb()
      .prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
      .pluck()
      .all()
    expect(Object.keys(TABLES).sort()).toEqual(made.filter((name) => name !== 'migration').sort())
  })

  test('are used only by the listed folders, and written only by their owners', () => {
    const faults = named.filter(({ room, table, writes }) => {
      const [owner, ...others] = TABLES[table]?.split(' ') ?? []
      return room !== owner && !others.includes(`+${room}`) && (writes || !others.includes(room))
    })
    expect(faults.map(({ path, table, writes }) => `${path} ${writes ? 'writes' : 'reads'} ${table}`)).toEqual([])
  })

  test('are used by every folder for which they are listed', () => {
    const idle = Object.entries(TABLES).flatMap(([table, rooms]) =>
      rooms
        .split(' ')
        .slice(1)
        .map((room) => room.replace('+', ''))
        .filter((room) => !named.some((one) => one.room === room && one.table === table))
        .map((room) => `${room} does not name ${table}`),
    )
    expect(idle).toEqual([])
  })
})

test('every migration is listed, in the order of the file names', () => {
  const files = list('migrations/*.sql').map((path) => basename(path, '.sql'))
  expect(migrations.map(({ name }) => name)).toEqual(files)
  for (const { name, sql } of migrations) expect(sql).toBe(read(`migrations/${name}.sql`))
  expect(files.map((name) => Number.parseInt(name, 10))).toEqual(files.map((_, index) => index + 1))
})

/**
 * Prefix of the packages that contain the engine's library, one per platform. They are dependencies of
 * `@duckdb/node-api`.
 */
const ENGINE = '@duckdb/node-bindings-'

/** Returns the package name of an import: `@scope/name/part` → `@scope/name`. */
function packageOf(target: string): string {
  return target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/')
}

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/.*$/gm, '')
}
