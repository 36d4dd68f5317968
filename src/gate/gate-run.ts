import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Type } from '../core/schema.ts'
import { GateReportSchema, REPORT_EXAMPLE } from './report.ts'

export const GATE_STATUSES = ['passed', 'failed'] as const

const summaryFields = {
  id: Type.String(),
  name: Type.String({ description: 'Name of the gate' }),
  ref: Nullable(Type.String({ description: 'Commit or version of the release' })),
  domainId: Nullable(Type.String({ description: 'Domain of the recording; null when unknown' })),
  status: OneOf(GATE_STATUSES),
  problems: Int({ description: 'Number of findings' }),
  createdAt: InstantSchema,
  approvedAt: Nullable(InstantSchema, { description: 'Time at which the run was approved as a baseline' }),
}

const EXAMPLE = {
  id: 'gat_01ke7jm2q0d3k8f1z6y5b7n4ta',
  name: 'checkout',
  ref: '8f2c1ab',
  domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta',
  status: 'failed',
  problems: 1,
  createdAt: 1_767_614_400_000,
  approvedAt: null,
} as const

/** A run of the release gate without its report. */
export const GateRunSummarySchema = Closed(summaryFields, { $id: 'GateRunSummary', examples: [EXAMPLE] })
export type GateRunSummary = Static<typeof GateRunSummarySchema>

export const GateRunSchema = Closed(
  { ...summaryFields, report: GateReportSchema },
  { $id: 'GateRun', examples: [{ ...EXAMPLE, report: REPORT_EXAMPLE }] },
)
export type GateRun = Static<typeof GateRunSchema>
