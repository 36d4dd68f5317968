import { findAudit, pagesOf } from '../audits/store.ts'
import { orNull } from '../core/error.ts'
import type { RunFiles } from '../flows/run-files.ts'
import { factsOf, findRun } from '../flows/run-store.ts'
import { findFlowTest } from '../flows/store.ts'
import type { Db } from '../store/database.ts'
import { type AuditedPage, type AuditReport, type FlowReport, type Report, toneOf } from './public-report.ts'
import type { RunKey } from './store.ts'

/** A run with the data of its public page. */
export interface ShareableRun {
  /** Returns the report; null while the run is queued or running. */
  report(): Report | null
  /** Returns the indexes of the steps that have a screenshot. */
  screenshots(): ReadonlySet<number>
  /** Returns the PNG screenshot of a step; null if there is none or it was deleted. */
  screenshot(step: number): Promise<Blob | null>
}

/** Finds a flow test run or an audit of the organization; null if it does not exist. */
export type FindShareableRun = (run: RunKey) => ShareableRun | null

export function shareableRuns(db: Db, files: RunFiles): FindShareableRun {
  return (run) => flowRunToShare(db, files, run) ?? auditToShare(db, run)
}

function flowRunToShare(db: Db, files: RunFiles, { orgId, runId }: RunKey): ShareableRun | null {
  const run = orNull(() => findRun(db, { orgId, id: runId }))
  if (!run) return null
  const { testId, status, startedAt, finishedAt, createdAt, region, error, headline, attempts } = run
  return {
    report(): FlowReport | null {
      if (finishedAt === null || (status !== 'passed' && status !== 'failed')) return null
      const { name } = findFlowTest(db, { orgId, id: testId })
      const { steps, findings, events, errors } = factsOf(db, runId)
      const pictures = files.screenshots(runId)
      return {
        kind: 'flow',
        name,
        headline,
        status,
        attempts,
        region,
        error,
        finishedAt,
        startedAt: startedAt ?? createdAt,
        findings,
        events,
        errors,
        // Screenshots are deleted earlier than their run.
        steps: steps.map((step) => ({ ...step, screenshot: pictures.has(step.index) })),
      }
    },
    screenshots: () => files.screenshots(runId),
    async screenshot(step) {
      return files.screenshots(runId).has(step) ? files.screenshot(runId, step) : null
    },
  }
}

/** Maximum number of pages shown. The remaining pages are only counted. */
const PAGES_SHOWN = 200

function auditToShare(db: Db, { orgId, runId: id }: RunKey): ShareableRun | null {
  const stored = orNull(() => findAudit(db, { orgId, id }))
  if (!stored) return null
  const { audit, differences } = stored
  const { name, status, region, error, startedAt, finishedAt, createdAt, summary } = audit
  return {
    report(): AuditReport | null {
      if (finishedAt === null || (status !== 'finished' && status !== 'failed')) return null
      return {
        kind: 'audit',
        name,
        status,
        region,
        error,
        finishedAt,
        startedAt: startedAt ?? createdAt,
        ...summary,
        pages: worstFirst(pagesOf(db, id)).slice(0, PAGES_SHOWN),
        differences: differences?.pages ?? null,
      }
    },
    screenshots: () => new Set(),
    screenshot: async () => null,
  }
}

/** Sorts pages by tone, worst first. Pages with the same tone keep their order. */
function worstFirst<P extends AuditedPage>(pages: readonly P[]): P[] {
  const byTone = Map.groupBy(pages, toneOf)
  return (['bad', 'warn', 'good'] as const).flatMap((tone) => byTone.get(tone) ?? [])
}
