import type { Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { newId } from '../core/id.ts'
import { type Page, type PageRequest, readPage } from '../http/paging.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { findOrgRow, type OrgRowKey } from '../store/org-rows.ts'
import { RECORD_RETENTION_MS } from '../store/retention.ts'
import type { FlowTest } from './flow-test.ts'
import type { KnownElement } from './known-element.ts'
import type { RunEvent, RunFinding, StepResult } from './run-result.ts'
import type { Run, RunStatus, RunSummary, Trigger } from './run-schema.ts'

/** Maximum number of waiting runs per organization. Further runs are rejected. */
const MAX_WAITING = 100
const RETRY_AFTER_S = 60

/** Results of an attempt. */
export interface RunFacts {
  steps: readonly StepResult[]
  findings: readonly RunFinding[]
  events: readonly RunEvent[]
  errors: readonly string[]
  /** The element found by each step, by step index. */
  elements: Readonly<Record<number, KnownElement>>
}

const NO_FACTS: RunFacts = { steps: [], findings: [], events: [], errors: [], elements: {} }

/** A run with the inputs that it was started with. */
export interface StoredRun extends Run {
  orgId: string
  /** Replaces the start URL of the version; null when it is not replaced. */
  startUrl: string | null
  /** Values that override the test's variables with the same names. */
  variables: Record<string, string>
  /** Encrypted secrets that were entered for this run. Null when there are none or the run has ended. */
  secrets: Buffer | null
  attempts: number
  headline: string
}

type RunRow = Omit<StoredRun, 'summary' | 'variables' | 'durationMs'> & { summary: string; variables: string }

function runOf({ summary, variables, ...row }: RunRow): StoredRun {
  const { startedAt, finishedAt } = row
  const durationMs = startedAt === null || finishedAt === null ? null : finishedAt - startedAt
  return { ...row, durationMs, summary: JSON.parse(summary), variables: JSON.parse(variables) }
}

/** Returns a run in the form shown to callers. */
export function shownRun({
  orgId: _,
  startUrl: __,
  variables: ___,
  secrets: ____,
  attempts: _____,
  headline: ______,
  ...run
}: StoredRun): Run {
  return run
}

export interface NewRun {
  trigger: Trigger
  startUrl?: string | null
  variables?: Record<string, string>
  secrets?: Buffer | null
  region: string
}

/** Stores a queued run. Throws `rateLimited` when too many runs of the organization are waiting. */
export function queueRun(
  db: Db,
  now: Instant,
  { id: testId, orgId, versionId, recording }: FlowTest,
  { trigger, startUrl = null, variables = {}, secrets = null, region }: NewRun,
): StoredRun {
  return tx(db, () => {
    const waiting = prepared<[string], { count: number }>(
      db,
      `SELECT count(*) AS count FROM flowRun WHERE status = 'queued' AND orgId = ?`,
    ).get(orgId)
    if ((waiting?.count ?? 0) >= MAX_WAITING) {
      throw new AppError('rateLimited', `${MAX_WAITING} runs are already waiting; try again later`, RETRY_AFTER_S)
    }
    const id = newId('run', now)
    const summary = summaryOf({ ...NO_FACTS, steps: [] }, recording.steps.length)
    prepared<[object]>(
      db,
      `INSERT INTO flowRun (id, orgId, testId, versionId, status, trigger, startUrl, variables, secrets, attempts, createdAt,
         summary, headline, region)
       VALUES (@id, @orgId, @testId, @versionId, 'queued', @trigger, @startUrl, @variables, @secrets, 0, @now, @summary, '',
         @region)`,
    ).run({
      id,
      orgId,
      testId,
      versionId,
      trigger,
      startUrl,
      secrets,
      now,
      region,
      variables: JSON.stringify(variables),
      summary: JSON.stringify(summary),
    })
    return findRun(db, { orgId, id })
  })
}

/** Returns counts that summarize the results of a run. */
export function summaryOf({ steps, findings, events }: RunFacts, stepsTotal: number): RunSummary {
  return {
    stepsTotal,
    stepsPassed: steps.filter(({ status }) => status === 'passed' || status === 'healed').length,
    healedSteps: steps.filter(({ status }) => status === 'healed').length,
    vendorsFired: new Set(events.map(({ vendor }) => vendor)).size,
    findings: findings.length,
  }
}

/** Returns the run. Throws `notFound` when the organization has no such run. */
export function findRun(db: Db, run: OrgRowKey): StoredRun {
  return runOf(findOrgRow<RunRow>(db, 'SELECT * FROM flowRun', run, 'no such run'))
}

/** Returns the results of a run, which are empty until the run has ended. */
export function factsOf(db: Db, runId: string): RunFacts {
  const sql = 'SELECT detail FROM flowRunDetail WHERE runId = ?'
  const row = prepared<[string], { detail: string }>(db, sql).get(runId)
  return row ? JSON.parse(row.detail) : NO_FACTS
}

/** Returns a page of the matching runs, newest first. */
export function listRuns(
  db: Db,
  orgId: string,
  { testId, status, ...page }: { testId?: string; status?: RunStatus } & PageRequest,
): Page<StoredRun> {
  return readPage(db, page, {
    sql: `SELECT * FROM flowRun
      WHERE orgId = @orgId AND (@testId IS NULL OR testId = @testId) AND (@status IS NULL OR status = @status)`,
    values: { orgId, testId: testId ?? null, status: status ?? null },
    sortBy: 'id',
    descending: true,
    itemOf: runOf,
  })
}

/** Returns the most recently finished runs with the names of their tests, newest first. */
export function endedRuns(db: Db, orgId: string, limit: number): (StoredRun & { testName: string })[] {
  const rows = prepared<[string, number], RunRow & { testName: string }>(
    db,
    `SELECT flowRun.*, settings ->> '$.name' AS testName FROM flowRun JOIN flowTest ON flowTest.id = testId
     WHERE flowRun.orgId = ? AND flowRun.status IN ('passed', 'failed') ORDER BY flowRun.id DESC LIMIT ?`,
  ).all(orgId, limit)
  return rows.map(({ testName, ...row }) => ({ ...runOf(row), testName }))
}

/** Returns the queued runs of all organizations, oldest first. */
export function waitingRuns(db: Db): StoredRun[] {
  const sql = `SELECT * FROM flowRun WHERE status = 'queued' ORDER BY id`
  return prepared<[], RunRow>(db, sql).all().map(runOf)
}

/** Returns whether the test has a run with one of these statuses. */
export function hasRun(db: Db, testId: string, states: readonly ('queued' | 'running')[]): boolean {
  const sql = `SELECT 1 FROM flowRun WHERE testId = ? AND status IN (SELECT value FROM json_each(?))`
  return prepared<[string, string]>(db, sql).get(testId, JSON.stringify(states)) !== undefined
}

/** Records the start of an attempt. Returns false when the run has been deleted or has ended. */
export function beginAttempt(db: Db, id: string, now: Instant): boolean {
  const { changes } = prepared<[Instant, string]>(
    db,
    `UPDATE flowRun SET status = 'running', startedAt = coalesce(startedAt, ?), attempts = attempts + 1
     WHERE id = ? AND status IN ('queued', 'running')`,
  ).run(now, id)
  return changes > 0
}

/** Outcome of a run. */
export interface RunEnd {
  status: 'passed' | 'failed'
  finishedAt: Instant
  pausedMs: number | null
  summary: RunSummary
  headline: string
  error: string | null
}

/** Stores the outcome of a run. Returns false and stores nothing when the run has been deleted or has already ended. */
export function endRun(db: Db, id: string, end: RunEnd, facts: RunFacts): boolean {
  return tx(db, () => {
    const { changes } = prepared<[object]>(
      db,
      `UPDATE flowRun SET status = @status, finishedAt = @finishedAt, pausedMs = @pausedMs, summary = @summary,
         headline = @headline, error = @error, secrets = NULL WHERE id = @id AND status IN ('queued', 'running')`,
    ).run({ id, ...end, summary: JSON.stringify(end.summary) })
    if (changes === 0) return false
    const sql = 'INSERT OR REPLACE INTO flowRunDetail (runId, detail) VALUES (?, ?)'
    prepared<[string, string]>(db, sql).run(id, JSON.stringify(facts))
    return true
  })
}

/** Cancels a queued or running run. Throws `notFound`, or `conflict` when it has ended. */
export function cancelRun(db: Db, { orgId, id }: OrgRowKey, now: Instant): void {
  findRun(db, { orgId, id })
  const { changes } = prepared<[object]>(
    db,
    `UPDATE flowRun SET status = 'cancelled', finishedAt = max(@now, coalesce(startedAt, 0)), headline = 'The run was cancelled',
       secrets = NULL
     WHERE id = @id AND status IN ('queued', 'running')`,
  ).run({ id, now })
  if (changes === 0) throw new AppError('conflict', 'the run has ended')
}

const CUT_OFF = 'the server stopped during the run'

/** Marks runs that were interrupted by a shutdown or crash of the server as failed. Queued runs stay queued. */
export function failInterruptedRuns(db: Db, now: Instant): void {
  prepared<[Instant, string, string]>(
    db,
    `UPDATE flowRun SET status = 'failed', finishedAt = max(?, startedAt), error = ?, headline = ?, secrets = NULL
     WHERE status = 'running'`,
  ).run(now, CUT_OFF, `The run ended early: ${CUT_OFF}`)
}

/** Deletes old runs, and versions that no longer belong to a run or test. */
export function removeOldRuns(db: Db, now: Instant): void {
  const oldest = newId('run', Math.max(0, now - RECORD_RETENTION_MS)).slice(0, 'run_'.length + 10)
  db.prepare(`DELETE FROM flowRun WHERE id < ? AND status IN ('passed', 'failed', 'cancelled')`).run(oldest)
  db.prepare(
    `DELETE FROM flowVersion WHERE createdAt < ?
       AND NOT EXISTS (SELECT 1 FROM flowTest WHERE versionId = flowVersion.id)
       AND NOT EXISTS (SELECT 1 FROM flowRun WHERE versionId = flowVersion.id)`,
  ).run(now - RECORD_RETENTION_MS)
}
