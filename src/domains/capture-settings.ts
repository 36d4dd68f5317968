import { Closed, OneOf, type Static, Type } from '../core/schema.ts'
import type { Db } from '../store/database.ts'
import { findOrgRow, type OrgRowKey } from '../store/org-rows.ts'
import { SAMPLING_RATES } from './domain.ts'
import { NO_SUCH_DOMAIN } from './store.ts'

/**
 * `memory`: a session lasts as long as the page is open, and nothing is stored. `sessionStorage`: a session spans the
 * pages of a tab, once the page has allowed storage. `customer`: the page sets the session id.
 */
const SESSION_MODES = ['memory', 'sessionStorage', 'customer'] as const
export type SessionMode = (typeof SESSION_MODES)[number]

const Rate = Type.Union(
  [...SAMPLING_RATES, 0].map((rate) => Type.Literal(rate)),
  { description: 'Share of sessions that the script captures; 0: none' },
)

const fields = {
  enabled: Type.Boolean({ description: 'False: the script captures nothing, and stops capturing on open pages' }),
  sampleRate: Closed({ prod: Rate, dev: Rate }),
  sessionMode: OneOf(SESSION_MODES, {
    description:
      'Used by pages that declare no mode. memory: a session lasts as long as the page; sessionStorage: as long as the tab, once the page ' +
      'allows storage; customer: the page sets the session id',
  }),
}
const EXAMPLE = { enabled: true, sampleRate: { prod: 0.1, dev: 1 }, sessionMode: 'memory' }

/** The settings of a domain's browser script. */
export const CaptureSettingsSchema = Closed(fields, { $id: 'CaptureSettings', examples: [EXAMPLE] })
export type CaptureSettings = Static<typeof CaptureSettingsSchema>

/** Omitted fields are not changed. */
export const CaptureSettingsInputSchema = Closed(
  {
    enabled: Type.Optional(fields.enabled),
    sampleRate: Type.Optional(Closed({ prod: Type.Optional(Rate), dev: Type.Optional(Rate) })),
    sessionMode: Type.Optional(fields.sessionMode),
  },
  { $id: 'CaptureSettingsInput', examples: [{ sampleRate: { prod: 0.1 } }] },
)
export type CaptureSettingsInput = Static<typeof CaptureSettingsInputSchema>

/** The columns of a domain that contain these settings. */
export interface CaptureRow {
  captureEnabled: number
  captureProdRate: number
  captureDevRate: number
  sessionMode: SessionMode
}

export function captureOf({ captureEnabled, captureProdRate, captureDevRate, sessionMode }: CaptureRow) {
  return {
    enabled: captureEnabled === 1,
    sampleRate: { prod: captureProdRate, dev: captureDevRate },
    sessionMode,
  } as CaptureSettings
}

/** Returns the settings of a domain. Throws `notFound`. */
export function captureSettings(db: Db, domain: OrgRowKey): CaptureSettings {
  const select = 'SELECT captureEnabled, captureProdRate, captureDevRate, sessionMode FROM domain'
  return captureOf(findOrgRow<CaptureRow>(db, select, domain, NO_SUCH_DOMAIN))
}

/** Changes the settings and returns the new settings. Throws `notFound`. */
export function changeCapture(db: Db, domain: OrgRowKey, change: CaptureSettingsInput): CaptureSettings {
  const present = captureSettings(db, domain)
  const next = { ...present, ...change, sampleRate: { ...present.sampleRate, ...change.sampleRate } }
  db.prepare(
    `UPDATE domain SET captureEnabled = @enabled, captureProdRate = @prod, captureDevRate = @dev,
       sessionMode = @sessionMode WHERE id = @id`,
  ).run({ id: domain.id, enabled: next.enabled ? 1 : 0, ...next.sampleRate, sessionMode: next.sessionMode })
  return next
}
