import type { Clock, Instant } from '../core/clock.ts'
import { DAY_MS } from '../core/clock.ts'
import { AppError, atField, checkAll, orNull } from '../core/error.ts'
import { newId } from '../core/id.ts'
import { checkTimezone } from '../core/timezone.ts'
import { Yielder } from '../core/yield-to-event-loop.ts'
import { findProject } from '../domains/project-store.ts'
import { hasDomain } from '../domains/store.ts'
import { type Page, type PageRequest, readPage } from '../http/paging.ts'
import { checkName } from '../org/org.ts'
import { type Db, prepared } from '../store/database.ts'
import { deleteOrgRow, findOrgRow, type OrgRowKey } from '../store/org-rows.ts'
import {
  MAX_WINDOW_MS,
  MAX_WINDOWS,
  type Maintenance,
  type MaintenanceInput,
  type MaintenanceTimes,
  NEXT_OCCURRENCES,
} from './maintenance.ts'
import { type Occurrence, scheduleOf, WindowSchedule } from './window-schedule.ts'

const NO_SUCH_WINDOW = 'no such maintenance window'
/** Windows begin after this instant, and at most this long after the present. */
const FIRST_START = Date.UTC(2000, 0, 1)
const MAX_AHEAD_MS = 5 * 366 * DAY_MS

interface WindowRow {
  id: string
  name: string
  domainIds: string | null
  projectId: string | null
  vendors: string | null
  fromAt: Instant
  toAt: Instant
  rrule: string | null
  timezone: string
  createdAt: Instant
}

const SELECT_WINDOW = `SELECT id, name, domainIds, projectId, vendors, fromAt, toAt, rrule, timezone, createdAt
  FROM maintenance`

const timesOf = ({ fromAt, toAt, rrule, timezone }: WindowRow) => ({ from: fromAt, to: toAt, rrule, timezone })

function maintenanceFrom(row: WindowRow, now: Instant): Maintenance {
  const { id, name, domainIds, projectId, vendors, createdAt } = row
  const schedule = scheduleOf(timesOf(row))
  return {
    id,
    name,
    domainIds: domainIds === null ? null : JSON.parse(domainIds),
    projectId,
    vendors: vendors === null ? null : JSON.parse(vendors),
    ...timesOf(row),
    createdAt,
    inForceUntil: schedule.at(now)?.to ?? null,
    nextOccurrences: schedule.next(now, NEXT_OCCURRENCES),
  }
}

/** Returns a page of maintenance windows, oldest first. */
export function listMaintenance(db: Db, orgId: string, page: PageRequest, now: Instant): Page<Maintenance> {
  return readPage(db, page, {
    sql: `${SELECT_WINDOW} WHERE orgId = @orgId`,
    values: { orgId },
    sortBy: 'id',
    itemOf: (row: WindowRow) => maintenanceFrom(row, now),
  })
}

/** Returns the next occurrences of a window that is not stored. Throws `invalid`, naming the field. */
export function previewMaintenance(times: MaintenanceTimes, now: Instant): Occurrence[] {
  checkAll(timeChecks(times, now))
  return checkedSchedule(times).next(now, NEXT_OCCURRENCES)
}

/** Creates a window. Throws `invalid`, naming the field, and `conflict` when the organization has too many windows. */
export function createMaintenance(db: Db, clock: Clock, orgId: string, input: MaintenanceInput): Maintenance {
  const createdAt = clock.now()
  const cells = cellsOf(db, orgId, input, createdAt)
  const sql = 'SELECT count(*) AS count FROM maintenance WHERE orgId = ?'
  const { count = 0 } = prepared<[string], { count: number }>(db, sql).get(orgId) ?? {}
  if (count >= MAX_WINDOWS) {
    throw new AppError('conflict', `an organization has at most ${MAX_WINDOWS} maintenance windows; delete one first`)
  }
  const id = newId('mnt', createdAt)
  prepared<[object]>(
    db,
    `INSERT INTO maintenance (id, orgId, name, domainIds, projectId, vendors, fromAt, toAt, rrule, timezone, createdAt)
     VALUES (@id, @orgId, @name, @domainIds, @projectId, @vendors, @fromAt, @toAt, @rrule, @timezone, @createdAt)`,
  ).run({ id, orgId, ...cells, createdAt })
  return findMaintenance(db, { orgId, id }, createdAt)
}

/** Replaces a window. Throws `notFound` and the errors of `createMaintenance`. */
export function updateMaintenance(db: Db, clock: Clock, key: OrgRowKey, input: MaintenanceInput): Maintenance {
  const now = clock.now()
  findMaintenance(db, key, now)
  prepared<[object]>(
    db,
    `UPDATE maintenance SET name = @name, domainIds = @domainIds, projectId = @projectId, vendors = @vendors,
       fromAt = @fromAt, toAt = @toAt, rrule = @rrule, timezone = @timezone
     WHERE orgId = @orgId AND id = @id`,
  ).run({ ...key, ...cellsOf(db, key.orgId, input, now) })
  return findMaintenance(db, key, now)
}

/** Deletes a window. Throws `notFound`. */
export function deleteMaintenance(db: Db, key: OrgRowKey): void {
  deleteOrgRow(db, 'DELETE FROM maintenance', key, NO_SUCH_WINDOW)
}

/** Returns the window. Throws `notFound`. */
export function findMaintenance(db: Db, key: OrgRowKey, now: Instant): Maintenance {
  return maintenanceFrom(findOrgRow<WindowRow>(db, SELECT_WINDOW, key, NO_SUCH_WINDOW), now)
}

/** Returns the column values for an input. Throws `invalid`, naming the first invalid field. */
function cellsOf(db: Db, orgId: string, input: MaintenanceInput, now: Instant) {
  const { domainIds = null, projectId = null, vendors = null, rrule = null, from, to, timezone } = input
  const unknown = (domainIds ?? []).findIndex((id) => !hasDomain(db, { orgId, id }))
  const hasProject = projectId === null || orNull(() => findProject(db, { orgId, id: projectId })) !== null
  checkAll([
    () => void checkName(input.name, 'name', 100),
    refuseIf(unknown >= 0, `domainIds[${unknown}]: no such domain`),
    refuseIf(!hasProject, 'projectId: no such project'),
    ...timeChecks(input, now),
  ])
  checkedSchedule(input)
  const jsonOf = (list: readonly string[] | null) => list && JSON.stringify([...new Set(list)])
  const name = checkName(input.name, 'name', 100)
  return {
    name,
    domainIds: jsonOf(domainIds),
    projectId,
    vendors: jsonOf(vendors),
    fromAt: from,
    toAt: to,
    rrule,
    timezone,
  }
}

const refuseIf = (isWrong: boolean, message: string) => () => {
  if (isWrong) throw new AppError('invalid', message)
}

const timeChecks = ({ from, to, timezone }: MaintenanceTimes, now: Instant) => [
  refuseIf(from < FIRST_START || from > now + MAX_AHEAD_MS, 'from: must be after 2000 and at most 5 years ahead'),
  refuseIf(to <= from, 'to: must be after `from`'),
  refuseIf(to - from > MAX_WINDOW_MS, 'to: must be at most 30 days after `from`'),
  () => checkTimezone(timezone),
]

/** Returns the schedule of a new window. Throws `invalid` for a rule that can't be used. */
function checkedSchedule({ from, to, rrule = null, timezone }: MaintenanceTimes): WindowSchedule {
  return atField('rrule', () => {
    const schedule = new WindowSchedule({ from, to, rrule, timezone })
    schedule.check()
    return schedule
  })
}

/** The fields of an issue by which windows select issues. */
export interface MaintenanceSubject {
  domainId: string | null
  /** Null for an issue about several vendors, or about none. */
  vendor: string | null
}

/** A window that is in force. */
export interface WindowInForce {
  id: string
  name: string
  until: Instant
}

/**
 * Returns a function that returns the window of the organization that is in force for an issue; null when there is none.
 * Of several windows, returns the one that ends last.
 */
export function windowsInForce(
  db: Db,
  orgId: string,
  now: Instant,
): (subject: MaintenanceSubject) => WindowInForce | null {
  const inForce = prepared<[string], WindowRow>(db, `${SELECT_WINDOW} WHERE orgId = ?`)
    .all(orgId)
    .flatMap((row) => {
      const until = scheduleOf(timesOf(row)).at(now)?.to
      return until === undefined ? [] : [{ row, until, selects: selectorOf(db, row) }]
    })
    .sort((a, b) => b.until - a.until)
  return (subject) => {
    const found = inForce.find(({ selects }) => selects(subject))
    return found ? { id: found.row.id, name: found.row.name, until: found.until } : null
  }
}

/** The charted events by which windows are selected. */
export interface ChartedScope {
  orgId: string
  domainIds: readonly string[]
  /** Null for all vendors. */
  vendor: string | null
}

/**
 * Returns up to `limit` occurrences within a period of the windows that affect any part of a series, in order. Yields
 * to the event loop between windows, because rules are slow.
 */
export async function maintenanceWithin(
  db: Db,
  { orgId, domainIds, vendor }: ChartedScope,
  { from, to, limit }: { from: Instant; to: Instant; limit: number },
): Promise<(Occurrence & { name: string })[]> {
  const found: (Occurrence & { name: string })[] = []
  const yielder = new Yielder()
  for (const row of prepared<[string, Instant], WindowRow>(db, `${SELECT_WINDOW} WHERE orgId = ? AND fromAt < ?`).all(
    orgId,
    to,
  )) {
    if (yielder.isDue) await yielder.yieldNow()
    if (!affects(db, row, domainIds, vendor)) continue
    const within = scheduleOf(timesOf(row)).within({ from, to }, limit - found.length)
    found.push(...within.map((occurrence) => ({ name: row.name, ...occurrence })))
    if (found.length === limit) break
  }
  return found.sort((a, b) => a.from - b.from)
}

function affects(db: Db, row: WindowRow, domainIds: readonly string[], vendor: string | null): boolean {
  const vendors: string[] | null = row.vendors && JSON.parse(row.vendors)
  if (vendor !== null && vendors !== null && !vendors.includes(vendor)) return false
  const own: string[] | null = row.domainIds && JSON.parse(row.domainIds)
  const meant = own === null ? domainIds : domainIds.filter((id) => own.includes(id))
  const { projectId } = row
  return projectId === null ? meant.length > 0 : meant.some((id) => isInProject(db, id, projectId))
}

function selectorOf(db: Db, row: WindowRow): (subject: MaintenanceSubject) => boolean {
  const domainIds: string[] | null = row.domainIds && JSON.parse(row.domainIds)
  const vendors: string[] | null = row.vendors && JSON.parse(row.vendors)
  const { projectId } = row
  return ({ domainId, vendor }) =>
    (domainIds === null || (domainId !== null && domainIds.includes(domainId))) &&
    (vendors === null || (vendor !== null && vendors.includes(vendor))) &&
    (projectId === null || (domainId !== null && isInProject(db, domainId, projectId)))
}

function isInProject(db: Db, domainId: string, projectId: string): boolean {
  return prepared(db, 'SELECT 1 FROM domain WHERE id = ? AND projectId = ?').get(domainId, projectId) !== undefined
}
