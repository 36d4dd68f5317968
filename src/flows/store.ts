import type { Clock, Instant } from '../core/clock.ts'
import { nextTime } from '../core/cron-schedule.ts'
import { AppError } from '../core/error.ts'
import { newId } from '../core/id.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { DEFAULT_LIMIT, decodeCursor, type Page, type PageRequest, page } from '../http/paging.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { deleteOrgRow, type OrgRowKey } from '../store/org-rows.ts'
import type { FlowTest, GivenSecrets, TestStatus } from './flow-test.ts'
import type { KnownElement } from './known-element.ts'
import type { FlowTestSettings } from './read-flow-test-input.ts'
import { beyondReach, secretReach } from './secret-reach.ts'

/** Maximum number of flow tests per organization. */
const MAX_FLOW_TESTS = 1000
/**
 * Maximum total length, in characters, of the recordings on one page of a list. A single recording may have a million
 * characters.
 */
const MAX_PAGE_SIZE = 4 * 2 ** 20

/** A flow test, including stored data that is not returned to callers. */
export interface StoredFlowTest {
  test: FlowTest
  /** Encrypted secrets; null when the test has none. */
  secrets: Buffer | null
  /** The element that each step found in the last run that passed, by step index. */
  elements: Record<number, KnownElement>
  /** Rejected selectors, by step index. */
  refused: Record<number, string[]>
}

/** Settings stored as JSON. They include the names of secrets. */
type StoredSettings = Omit<FlowTestSettings, 'domainId' | 'enabled' | 'recording' | 'startUrl' | 'expectations'> & {
  secrets: string[]
}

interface TestRow {
  id: string
  orgId: string
  domainId: string | null
  settings: string
  enabled: number
  sealed: Buffer | null
  versionId: string
  status: TestStatus
  healing: string
  refused: string
  elements: string
  createdAt: Instant
  updatedAt: Instant
  version: number
  recording: string
  startUrl: string | null
  expectations: string
}

const TESTS = `SELECT flowTest.id, orgId, domainId, settings, enabled, secrets AS sealed, versionId, status, healing, refused,
    elements, flowTest.createdAt, updatedAt, version, recording, startUrl, expectations
  FROM flowTest JOIN flowVersion ON flowVersion.id = flowTest.versionId`

const NO_SUCH_TEST = 'no such flow test'

function flowTestOf(row: TestRow): StoredFlowTest {
  const { settings, enabled, sealed, recording, expectations, healing, elements, refused, ...rest } = row
  // Tests that were saved before `secretHosts` was introduced do not have this field.
  const { secretHosts = [], ...others } = JSON.parse(settings) as StoredSettings & { secretHosts?: string[] }
  return {
    test: {
      ...rest,
      ...others,
      secretHosts,
      enabled: enabled === 1,
      recording: JSON.parse(recording),
      expectations: JSON.parse(expectations),
      healing: JSON.parse(healing),
    },
    secrets: sealed,
    elements: JSON.parse(elements),
    refused: JSON.parse(refused),
  }
}

/** Returns the test with its stored data. Throws `notFound` when the organization has no such test. */
export function storedFlowTest(db: Db, { orgId, id }: OrgRowKey): StoredFlowTest {
  const row = prepared<[string, string], TestRow>(db, `${TESTS} WHERE orgId = ? AND flowTest.id = ?`).get(orgId, id)
  if (!row) throw new AppError('notFound', NO_SUCH_TEST)
  return flowTestOf(row)
}

/** Returns the test. Throws `notFound` when the organization has no such test. */
export const findFlowTest = (db: Db, key: OrgRowKey): FlowTest => storedFlowTest(db, key).test

/** Returns a page of tests, oldest first. The page has fewer than `limit` tests when their recordings are large. */
export function listFlowTests(db: Db, orgId: string, { cursor, limit = DEFAULT_LIMIT }: PageRequest): Page<FlowTest> {
  const after = decodeCursor(cursor, 1)?.[0] ?? null
  const sql = `${TESTS} WHERE orgId = @orgId AND (@after IS NULL OR flowTest.id > @after) ORDER BY flowTest.id LIMIT @limit + 1`
  const tests: FlowTest[] = []
  let most = limit
  let size = 0
  for (const row of prepared<[object], TestRow>(db, sql).iterate({ orgId, after, limit })) {
    if (size > MAX_PAGE_SIZE) most = tests.length
    tests.push(flowTestOf(row).test)
    if (tests.length > most) break
    size += row.recording.length
  }
  return page(tests, most, ({ id }) => [id])
}

/** Returns the tests of all organizations that are scheduled for `now` or earlier, most overdue first. */
export function dueFlowTests(db: Db, now: Instant): FlowTest[] {
  const sql = `${TESTS} WHERE dueAt <= ? ORDER BY dueAt, flowTest.id`
  return prepared<[Instant], TestRow>(db, sql)
    .all(now)
    .map((row) => flowTestOf(row).test)
}

/** Returns the tests of all organizations whose domain has changed, with the end of the watch window of each change. */
export function changedFlowTests(db: Db, now: Instant): { test: FlowTest; endsAt: Instant }[] {
  const sql = `${TESTS.replace('SELECT', 'SELECT changeEndsAt,')} WHERE changeAt <= ? ORDER BY changeAt, flowTest.id`
  const rows = prepared<[Instant], TestRow & { changeEndsAt: Instant }>(db, sql).all(now)
  return rows.map(({ changeEndsAt, ...row }) => ({ test: flowTestOf(row).test, endsAt: changeEndsAt }))
}

/** Records that the change to the domain of a test has been handled. */
export function forgetChange(db: Db, id: string): void {
  prepared<[string]>(db, 'UPDATE flowTest SET changeAt = NULL, changeEndsAt = NULL WHERE id = ?').run(id)
}

/** Sets the time of the test's next scheduled run. */
export function planNext(db: Db, { id, enabled, schedule, timezone }: FlowTest, now: Instant): void {
  const dueAt = dueAtOf({ enabled, schedule, timezone }, now)
  prepared<[Instant | null, string]>(db, 'UPDATE flowTest SET dueAt = ? WHERE id = ?').run(dueAt, id)
}

type Timetable = Pick<FlowTest, 'enabled' | 'schedule' | 'timezone'>
const dueAtOf = ({ enabled, schedule, timezone }: Timetable, now: Instant): Instant | null =>
  enabled && schedule !== null ? nextTime(schedule, timezone, now) : null

interface Parts {
  db: Db
  box: SecretBox
  clock: Clock
}

/**
 * Stores a new test. Throws `conflict` when the organization has too many tests, and `invalid` for a secret without a
 * value.
 */
export function createFlowTest(
  { db, box, clock }: Parts,
  orgId: string,
  settings: FlowTestSettings,
  given: Readonly<GivenSecrets>,
): FlowTest {
  return tx(db, () => {
    const count = prepared<[string], { count: number }>(db, 'SELECT count(*) AS count FROM flowTest WHERE orgId = ?')
    if ((count.get(orgId)?.count ?? 0) >= MAX_FLOW_TESTS) {
      throw new AppError('conflict', `an organization can have at most ${MAX_FLOW_TESTS} flow tests`)
    }
    const createdAt = clock.now()
    const secrets = secretsOf(given, {})
    const [id, versionId] = [newId('tst', createdAt), newId('ver', createdAt)]
    prepared<[object]>(
      db,
      `INSERT INTO flowTest (id, orgId, domainId, settings, enabled, secrets, versionId, status, healing, refused, elements,
         dueAt, runOnChange, createdAt, updatedAt)
       VALUES (@id, @orgId, @domainId, @settings, @enabled, @secrets, @versionId, 'never_run', '[]', '{}', '{}',
         @dueAt, @runOnChange, @now, @now)`,
    ).run({
      id,
      orgId,
      versionId,
      ...cellsOf(settings, Object.keys(secrets), createdAt),
      secrets: sealed(box, secrets),
    })
    addVersion(db, { id: versionId, testId: id, version: 1, ...settings }, createdAt)
    return findFlowTest(db, { orgId, id })
  })
}

/**
 * Replaces a test. Without `given`, the stored secrets are kept; throws `invalid` when this would expose them to new
 * hosts or expressions. A change to the recording, start URL or expectations creates a version. A new recording also
 * deletes the known elements. Throws `notFound`, and `invalid` for an unknown secret without a value.
 */
export function updateFlowTest(
  { db, box, clock }: Parts,
  key: OrgRowKey,
  settings: FlowTestSettings,
  given?: Readonly<GivenSecrets>,
): FlowTest {
  return tx(db, () => {
    const before = storedFlowTest(db, key)
    const now = clock.now()
    const known = openSecrets(box, before)
    const secrets = given && secretsOf(given, known)
    const keptNames = Object.keys(known).filter((name) => !given || given[name] === null)
    requireReach(before.test, settings, { known, secrets: secrets ?? known, keptNames })
    const names = secrets ? Object.keys(secrets) : before.test.secrets
    prepared<[object]>(
      db,
      `UPDATE flowTest SET domainId = @domainId, settings = @settings, enabled = @enabled, secrets = @secrets,
         dueAt = @dueAt, runOnChange = @runOnChange, updatedAt = @now WHERE id = @id`,
    ).run({
      ...cellsOf(settings, names, now),
      id: key.id,
      secrets: secrets ? sealed(box, secrets) : before.secrets,
    })
    if (!settings.enabled || !settings.runOnChange) forgetChange(db, key.id)
    replaceVersion(db, before.test, settings, now)
    return findFlowTest(db, key)
  })
}

/** Deletes a test with its versions and runs. Throws `notFound` when the organization has no such test. */
export function deleteFlowTest(db: Db, test: OrgRowKey): void {
  deleteOrgRow(db, 'DELETE FROM flowTest', test, NO_SUCH_TEST)
}

function cellsOf(settings: FlowTestSettings, secrets: string[], now: Instant) {
  const { domainId, enabled, recording, startUrl, expectations, ...rest } = settings
  const kept: StoredSettings = { ...rest, secrets }
  return {
    domainId,
    settings: JSON.stringify(kept),
    enabled: Number(enabled),
    runOnChange: Number(rest.runOnChange),
    dueAt: dueAtOf(settings, now),
    now,
  }
}

/** Returns the secrets to store, by name. */
function secretsOf(given: Readonly<GivenSecrets>, before: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(given).map(([name, value]) => {
    const text = value ?? (Object.hasOwn(before, name) ? before[name] : undefined)
    if (text === undefined)
      throw new AppError('invalid', `secrets.${name}: a value is required, because none is stored`)
    return [name, text]
  })
  return Object.fromEntries(kept)
}

/**
 * Throws `invalid`, naming the secret, when a stored secret would be exposed to a host or expression for which it was
 * not entered.
 */
function requireReach(
  before: FlowTest,
  after: FlowTestSettings,
  { known, secrets, keptNames }: Record<'known' | 'secrets', Record<string, string>> & { keptNames: string[] },
): void {
  const [name] = keptNames
  if (name === undefined) return
  const bound = secretReach(before, { variables: before.variables, secrets: known })
  const reason = beyondReach(bound, secretReach(after, { variables: after.variables, secrets }))
  if (reason !== null) throw new AppError('invalid', `secrets.${name}: enter it again, because ${reason}`)
}

/** Encrypts values by name. Returns null when there are none. */
export function sealed(box: SecretBox, secrets: Readonly<Record<string, string>>): Buffer | null {
  return Object.keys(secrets).length === 0 ? null : box.seal(JSON.stringify(secrets))
}

/** Decrypts the secrets of a test or run. Returns the values by name. */
export function openSecrets(box: SecretBox, { secrets }: Pick<StoredFlowTest, 'secrets'>): Record<string, string> {
  return secrets === null ? {} : JSON.parse(box.open(secrets))
}

/** Deletes secrets that can't be decrypted. Returns the tests whose secrets must be entered again. */
export function dropUnreadableSecrets(db: Db, box: SecretBox): OrgRowKey[] {
  const rows = db
    .prepare<[], OrgRowKey & { secrets: Buffer }>(
      'SELECT id, orgId, secrets FROM flowTest WHERE secrets IS NOT NULL ORDER BY id',
    )
    .all()
  const closed = rows.filter(({ secrets }) => !opens(box, secrets))
  const forget = db.prepare(
    `UPDATE flowTest SET secrets = NULL, settings = json_set(settings, '$.secrets', json('[]')) WHERE id = ?`,
  )
  for (const { id } of closed) forget.run(id)
  const runs = db.prepare<[], { id: string; secrets: Buffer }>(
    'SELECT id, secrets FROM flowRun WHERE secrets IS NOT NULL',
  )
  const forgetRun = db.prepare('UPDATE flowRun SET secrets = NULL WHERE id = ?')
  for (const { id } of runs.all().filter(({ secrets }) => !opens(box, secrets))) forgetRun.run(id)
  return closed.map(({ id, orgId }) => ({ id, orgId }))
}

function opens(box: SecretBox, sealed: Buffer): boolean {
  try {
    box.open(sealed)
    return true
  } catch {
    // The secrets were encrypted with another key or are damaged.
    return false
  }
}

/** The versioned fields of a test. */
export type Versioned = Pick<FlowTest, 'recording' | 'startUrl' | 'expectations'>

function addVersion(
  db: Db,
  {
    id,
    testId,
    version,
    recording,
    startUrl,
    expectations,
  }: Versioned & { id: string; testId: string; version: number },
  createdAt: Instant,
): void {
  prepared<[object]>(
    db,
    `INSERT INTO flowVersion (id, testId, version, recording, startUrl, expectations, createdAt)
     VALUES (@id, @testId, @version, @recording, @startUrl, @expectations, @createdAt)`,
  ).run({
    id,
    testId,
    version,
    startUrl,
    createdAt,
    recording: JSON.stringify(recording),
    expectations: JSON.stringify(expectations),
  })
}

/** Creates a version and makes it current, if it differs from the current one. */
function replaceVersion(db: Db, before: FlowTest, after: Versioned, now: Instant): void {
  const versionOf = ({ recording, startUrl, expectations }: Versioned) => ({ recording, startUrl, expectations })
  if (Bun.deepEquals(versionOf(before), versionOf(after))) return
  makeVersion(db, before, after, now)
  if (Bun.deepEquals(before.recording, after.recording)) return
  // The step indexes now refer to other steps.
  const sql = `UPDATE flowTest SET healing = '[]', refused = '{}', elements = '{}' WHERE id = ?`
  prepared<[string]>(db, sql).run(before.id)
}

/** Creates a version and makes it current. The known elements are kept. */
export function makeVersion(db: Db, { id, version }: FlowTest, after: Versioned, now: Instant): void {
  const versionId = newId('ver', now)
  addVersion(db, { ...after, id: versionId, testId: id, version: version + 1 }, now)
  prepared<[string, Instant, string]>(db, 'UPDATE flowTest SET versionId = ?, updatedAt = ? WHERE id = ?').run(
    ...([versionId, now, id] as const),
  )
}

/** Stored data that can change after a run or an approval. */
export type Learned = Partial<Pick<StoredFlowTest, 'elements' | 'refused'> & Pick<FlowTest, 'healing' | 'status'>>

/** Stores what was learned about a test. Omitted fields are not changed. */
export function saveLearned(db: Db, { test, ...kept }: StoredFlowTest, learned: Learned): void {
  const { elements, refused, healing, status } = { ...kept, ...test, ...learned }
  prepared<[object]>(
    db,
    `UPDATE flowTest SET elements = @elements, refused = @refused, healing = @healing, status = @status WHERE id = @id`,
  ).run({
    id: test.id,
    status,
    elements: JSON.stringify(elements),
    refused: JSON.stringify(refused),
    healing: JSON.stringify(healing),
  })
}

/** Returns the recording, start URL and expectations of a version; null when the version has been deleted. */
export function versionOf(db: Db, id: string): Versioned | null {
  const sql = 'SELECT recording, startUrl, expectations FROM flowVersion WHERE id = ?'
  const row = prepared<[string], Pick<TestRow, 'recording' | 'startUrl' | 'expectations'>>(db, sql).get(id)
  return row
    ? { recording: JSON.parse(row.recording), startUrl: row.startUrl, expectations: JSON.parse(row.expectations) }
    : null
}
