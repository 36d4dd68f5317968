import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import Database from 'better-sqlite3'
import { messageOf } from '../../src/core/error.ts'
import { folderPaths } from '../../src/data-folder/folder-paths.ts'
import { call, runProgram, startServer, until, WEBHOOK_SECRET } from '../run-program.ts'
import { schemaOf, withMigrations } from './old-database.fixture.ts'

/**
 * Records a data folder for each schema of the database, with the program that had this schema:
 * `./run test/upgrades/record-folders.ts [SCHEMA…]`. Requires the git history. Without arguments, records the folders
 * that don't exist yet.
 *
 * Each folder is written by a server of that version: an owner, a domain, an alert, a batch of events that violates it,
 * the issue and its delivery, and whatever else that version accepts. It is stopped and stored as `folders/schema-NN.tar.gz`
 * without its lock and mark, as if it had been copied.
 */

const ROOT = resolve(import.meta.dir, '../..')
const STOP_MS = 20_000
const FOLDERS = join(import.meta.dir, 'folders')

/** Runs a program and returns what it prints. Throws if it fails. */
function output(cwd: string, ...command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd, stdout: 'pipe', stderr: 'pipe' })
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr.toString()}`)
  return stdout.toString().trim()
}

/** Returns the commits of each schema at which the program may work: the last and the first on the main branch. */
function commitsOfSchemas(): Map<number, string[]> {
  const touched = output(ROOT, 'git', 'log', '--first-parent', '--reverse', '--format=%H', '--', 'migrations').split(
    '\n',
  )
  const commits = new Map<number, string[]>()
  for (const [index, commit] of touched.entries()) {
    const files = output(ROOT, 'git', 'ls-tree', '--name-only', commit, 'migrations/').split('\n')
    const next = touched[index + 1]
    const last = output(ROOT, 'git', 'rev-parse', next ? `${next}^` : 'HEAD')
    commits.set(files.filter((path) => path.endsWith('.sql')).length, [last, commit])
  }
  return commits
}

/** Requests that fill a folder. Those of later versions are rejected by earlier ones. */
function requestsFor(domainId: string, channels: object[]): [method: string, path: string, body: unknown][] {
  const at = Date.now()
  const steps = [{ type: 'navigate', url: 'https://shop.example/' }]
  return [
    ['POST', '/v1/projects', { name: 'Shops' }],
    ['POST', '/v1/keys', { name: 'Reports', expiresInDays: 30, readOnly: true }],
    ['POST', '/v1/org/members', { email: 'bob@shop.example', role: 'member' }],
    ['POST', '/v1/changes', { domainId, source: 'pipeline', ref: '41', title: 'Release 41' }],
    ['POST', '/v1/insights/labels/assign', { label: 'Purchase', members: [{ vendor: 'segment', event: 'purchase' }] }],
    ['POST', '/v1/orders', { domainId, orders: [{ id: 'A-1', at, value: 20, currency: 'EUR' }] }],
    ['POST', '/v1/flows/tests', { name: 'Start page', recording: { title: 'Start', steps } }],
    ['POST', '/v1/audits', { name: 'Shop', startUrls: ['https://shop.example/'] }],
    ['PUT', '/v1/org/escalation', { steps: [{ afterMinutes: 60, channels }] }],
    ['POST', '/v1/calendars', { name: 'Holidays', country: 'DE' }],
    [
      'POST',
      '/v1/maintenance',
      { name: 'Migration', domainIds: [domainId], from: at, to: at + 3_600_000, timezone: 'UTC' },
    ],
    ['PUT', '/v1/org/ownership', { rules: [{ match: { domainId }, channels }] }],
  ]
}

/** Fills a new data folder through the API of a server. */
async function fill(url: string, apiKey: string): Promise<void> {
  const send = async (method: string, path: string, body?: unknown, as = apiKey) => {
    const answer = await call(method, `${url}${path}`, { as, body })
    if (answer.status >= 300) console.log(`  ${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const domain = await send('POST', '/v1/domains', { name: 'shop.example' })
  const config = { url: 'https://hooks.shop.example/', secret: WEBHOOK_SECRET }
  const integration = await send('POST', '/v1/integrations', { provider: 'webhook', label: 'Hook', config })
  const channels = [{ type: 'webhook', target: integration.id }]
  await send('POST', '/v1/alerts', {
    name: 'Personal data',
    alertType: 'data_validation',
    severity: 'high',
    domainId: domain.id,
    period: '1h',
    conditions: { logic: 'any', items: [{ parameter: '*', op: 'contains_email' }] },
    channels,
  })
  for (const [method, path, body] of requestsFor(domain.id, channels)) await send(method, path, body)
  const params = { orderId: 'A-1', note: 'mail to carol@shop.example' }
  const events = Array.from({ length: 20 }, (_, n) => ({ id: `e${n}`, vendor: 'segment', event: 'purchase', params }))
  const page = { url: 'https://shop.example/thanks' }
  await send('POST', '/api/v1/events', { batchId: 'recorded-1', version: 41, page, events }, domain.token)
  const issue = await until('an issue', async () => (await send('GET', '/v1/issues')).issues[0] ?? null)
  await until('stored events', async () => (await send('GET', '/v1/usage')).totalEvents > 0)
  await send('PATCH', `/v1/issues/${issue.id}`, { status: 'acknowledged' })
  await send('POST', `/v1/issues/${issue.id}/comments`, { body: 'The order form sends the note field.' })
}

async function record(schema: number, commit: string, checkout: string): Promise<void> {
  output(checkout, 'git', 'checkout', '--force', '--detach', commit)
  output(checkout, process.execPath, 'install', '--frozen-lockfile', '--ignore-scripts', '--production')
  const root = mkdtempSync(join(tmpdir(), 'recorded-'))
  const data = join(root, 'data')
  // Some commits between two versions hang.
  const program = ['timeout', '--kill-after=5', '60', process.execPath, '--no-env-file', join(checkout, 'src/main.ts')]
  const args = ['init', '--data', data, '--org', 'Acme', '--email', 'alice@shop.example', '--json']
  const { stdout, stderr } = await runProgram(args, { program })
  if (stdout === '') throw new Error(stderr)
  await using server = await startServer(data, { program })
  await fill(server.url, JSON.parse(stdout).apiKey)
  // The events are moved from the spool to a file within seconds.
  await until('an event file', () =>
    readdirSync(join(data, 'events'), { recursive: true }).some((path) => String(path).endsWith('.parquet')),
  )
  // Some old versions don't always stop.
  const isStopped = await Promise.race([server.stop().then(() => true), Bun.sleep(STOP_MS)])
  if (!isStopped) throw new Error('the server does not stop')
  const { database } = folderPaths(data)
  const db = new Database(database)
  db.pragma('journal_mode = DELETE')
  const found = db.pragma('user_version', { simple: true })
  const isFinal = Bun.deepEquals(schemaOf(db), schemaOf(withMigrations(schema)))
  db.close()
  if (!isFinal) throw new Error(`its migrations were changed later`)
  if (found !== schema) throw new Error(`${commit} has schema ${found}, not ${schema}`)
  const archive = join(FOLDERS, `schema-${String(schema).padStart(2, '0')}.tar`)
  const own = ['--exclude=./lock*', '--exclude=./folder.mark', '--exclude=./browsers']
  output(
    data,
    'tar',
    '--create',
    '--file',
    archive,
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    ...own,
    '.',
  )
  writeFileSync(`${archive}.gz`, Bun.gzipSync(await Bun.file(archive).bytes(), { level: 9 }))
  rmSync(archive)
  rmSync(root, { recursive: true })
}

const existing = new Set(readdirSync(FOLDERS).map((name) => Number(/^schema-(\d+)/.exec(name)?.[1])))
const wanted = process.argv.slice(2).map(Number)
const checkout = mkdtempSync(join(tmpdir(), 'checkout-'))
output(ROOT, 'git', 'worktree', 'add', '--detach', '--force', checkout)
try {
  for (const [schema, commits] of commitsOfSchemas()) {
    if (wanted.length > 0 ? !wanted.includes(schema) : existing.has(schema)) continue
    for (const commit of commits) {
      console.log(`schema ${schema}: ${commit.slice(0, 8)}`)
      try {
        await record(schema, commit, checkout)
        break
      } catch (error) {
        console.log(`  not recorded: ${messageOf(error)}`)
      }
    }
  }
} finally {
  output(ROOT, 'git', 'worktree', 'remove', '--force', checkout)
}
