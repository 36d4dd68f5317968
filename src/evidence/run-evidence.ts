import { maskPersonal } from '../conditions/mask-personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import { orNull } from '../core/error.ts'
import { Closed, Int, Nullable, type Static, Type } from '../core/schema.ts'
import type { RunEvent } from '../flows/run-result.ts'
import { factsOf, findRun } from '../flows/run-store.ts'
import type { IssueRecord } from '../issues/issue.ts'
import { FLOW_TEST } from '../issues/issue-kinds.ts'
import type { Db } from '../store/database.ts'

/** Maximum number of events shown per run. */
const MAX_SENT = 50

export const EvidenceRunSchema = Closed(
  {
    path: Type.String({ description: 'API path of the full run' }),
    headline: Nullable(Type.String()),
    steps: Type.Array(
      Closed({
        title: Type.String(),
        status: Type.String(),
        error: Nullable(Type.String()),
        screenshot: Nullable(
          Type.String({ description: 'Path of a PNG; null if absent or not visible to the caller' }),
        ),
      }),
    ),
    sent: Type.Array(
      Closed({
        step: Int(),
        vendor: Type.String(),
        event: Type.String(),
        account: Nullable(Type.String()),
        params: Type.Record(Type.String(), Type.String()),
      }),
      { maxItems: MAX_SENT, description: 'Events from the vendor that the finding is about' },
    ),
  },
  {
    $id: 'EvidenceRun',
    description: 'The most recent run with this finding; null for alerts, or if the run was deleted',
    examples: [
      {
        path: '/v1/flows/runs/run_01ke7k3h20x6b4n8r1t9v5c7zd',
        headline: 'Purchase did not fire',
        steps: [{ title: 'Click “Buy”', status: 'passed', error: null, screenshot: null }],
        sent: [],
      },
    ],
  },
)
export type EvidenceRun = Static<typeof EvidenceRunSchema>

/**
 * Returns the most recent run with this finding, with personal data masked; null if there is no such run or it was
 * deleted.
 * @param seesPersonal True if the caller may see screenshots.
 */
export function runOfIssue(db: Db, issue: IssueRecord, privacy: Privacy, seesPersonal: boolean): EvidenceRun | null {
  const { orgId, alertType, evidence } = issue
  const id = evidence?.runId
  if (id === undefined) return null
  if (alertType !== FLOW_TEST.kind) return { path: `/v1/audits/${id}`, headline: null, steps: [], sent: [] }
  const run = orNull(() => findRun(db, { orgId, id }))
  if (!run) return null
  const mask = (text: string, key = '') => maskPersonal(text, key, privacy)
  const { steps, events } = factsOf(db, id)
  const isMeant = ({ vendor }: RunEvent) => evidence?.vendor === null || vendor === evidence?.vendor
  const path = `/v1/flows/runs/${id}`
  return {
    path,
    headline: mask(run.headline),
    steps: steps.map(({ index, title, status, error, screenshot }) => ({
      title: mask(title),
      status,
      error: error === null ? null : mask(error),
      screenshot: screenshot && seesPersonal ? `${path}/steps/${index}/screenshot` : null,
    })),
    sent: events
      .filter(isMeant)
      .slice(-MAX_SENT)
      .map(({ step, vendor, event, account, params }) => ({
        step,
        vendor: mask(vendor),
        event: mask(event),
        account: account === null ? null : mask(account),
        params: Object.fromEntries(Object.entries(params).map(([key, value]) => [mask(key), mask(value, key)])),
      })),
  }
}
