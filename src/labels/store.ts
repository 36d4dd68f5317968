import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { newId } from '../core/id.ts'
import { type Page, type PageRequest, readPage } from '../http/paging.ts'
import { type Db, prepared, tx } from '../store/database.ts'
import { deleteOrgRow, findOrgRow, type OrgRowKey } from '../store/org-rows.ts'
import {
  colorOf,
  keyOfLabel,
  type Label,
  type LabelAssignInput,
  type LabelInput,
  type LabelMember,
  type LabelUnassignInput,
  MAX_ALL_MEMBERS,
  MAX_LABELS,
  MAX_MEMBERS,
  type MembersOf,
} from './label.ts'

const NO_SUCH_LABEL = 'no such label'

type LabelRow = Omit<Label, 'members'> & { members: string }

const SELECT_LABEL = `SELECT id, name AS label, color, kind, createdAt, (
    SELECT json_group_array(json_object('vendor', vendor, 'event', event) ORDER BY vendor, event)
    FROM labelMember WHERE labelId = label.id
  ) AS members
  FROM label`

const labelOf = (row: LabelRow): Label => ({ ...row, members: JSON.parse(row.members) })

/** Returns a page of labels in order of creation. */
export function listLabels(db: Db, orgId: string, page: PageRequest): Page<Label> {
  return readPage(db, page, {
    sql: `${SELECT_LABEL} WHERE orgId = @orgId`,
    values: { orgId },
    sortBy: 'id',
    itemOf: labelOf,
  })
}

/** Returns the label. Throws `notFound`. */
export function findLabel(db: Db, key: OrgRowKey): Label {
  return labelOf(findOrgRow<LabelRow>(db, SELECT_LABEL, key, NO_SUCH_LABEL))
}

/** Returns a function that looks up the current members of one of the organization's labels. */
export function membersOf(db: Db, orgId: string): MembersOf {
  const find = prepared<[string, string], LabelMember>(
    db,
    `SELECT vendor, event FROM labelMember JOIN label ON label.id = labelId
     WHERE orgId = ? AND nameKey = ? ORDER BY vendor, event`,
  )
  return (label) => find.all(orgId, keyOfLabel(label))
}

/** Returns the ids of the organization's labels that contain the event. An empty event name matches only whole vendors. */
export function labelIdsOf(db: Db, orgId: string, { vendor, event }: LabelMember): string[] {
  return prepared<[object], { id: string }>(
    db,
    `SELECT DISTINCT label.id FROM labelMember JOIN label ON label.id = labelId
     WHERE orgId = @orgId AND vendor = @vendor AND event IN ('', @event)`,
  )
    .all({ orgId, vendor, event })
    .map(({ id }) => id)
}

export function hasLabel(db: Db, { orgId, id }: OrgRowKey): boolean {
  return prepared(db, 'SELECT 1 FROM label WHERE orgId = ? AND id = ?').get(orgId, id) !== undefined
}

/**
 * Adds members to a label and creates the label if necessary. `color` and `kind` replace existing values. Returns the
 * number of new members. Throws `invalid` for a blank name or an invalid color, and `conflict` when a limit on labels
 * or members would be exceeded.
 */
export function assign(db: Db, clock: Clock, orgId: string, input: LabelAssignInput): number {
  const { label, color, kind, members } = input
  const name = checkedName(label)
  checkColor(color)
  return tx(db, () => {
    const id = idOf(db, orgId, name) ?? create(db, clock, orgId, name)
    db.prepare('UPDATE label SET color = coalesce(?, color), kind = coalesce(?, kind) WHERE id = ?').run(
      color?.toLowerCase() ?? null,
      kind ?? null,
      id,
    )
    return addMembers(db, { orgId, id, name }, members)
  })
}

/**
 * Renames a label and replaces its members; omitted `color` and `kind` are unchanged. Throws `notFound`, `invalid` for
 * a blank name or an invalid color, and `conflict` for the name of another label and when a limit on members would be
 * exceeded.
 */
export function replaceLabel(db: Db, key: OrgRowKey, { label, color, kind, members }: LabelInput): Label {
  const name = checkedName(label)
  checkColor(color)
  return tx(db, () => {
    const present = findLabel(db, key)
    const namesake = idOf(db, key.orgId, name)
    if (namesake !== null && namesake !== key.id) throw new AppError('conflict', 'label: the name is taken')
    db.prepare('UPDATE label SET name = ?, nameKey = ?, color = ?, kind = ? WHERE id = ?').run(
      name,
      keyOfLabel(name),
      color?.toLowerCase() ?? present.color,
      kind ?? present.kind,
      key.id,
    )
    db.prepare('DELETE FROM labelMember WHERE labelId = ?').run(key.id)
    addMembers(db, { ...key, name }, members)
    return findLabel(db, key)
  })
}

/** Returns the number of new members. Throws `conflict` when a limit would be exceeded. */
function addMembers(
  db: Db,
  { orgId, id, name }: OrgRowKey & { name: string },
  members: readonly LabelMember[],
): number {
  const add = db.prepare('INSERT OR IGNORE INTO labelMember (labelId, vendor, event) VALUES (?, ?, ?)')
  const added = members.reduce((sum, { vendor, event }) => sum + add.run(id, vendor, event).changes, 0)
  if (added > 0) checkLimits(db, orgId, id, name)
  return added
}

function checkColor(color: string | undefined): void {
  if (color === undefined || /^#[0-9a-f]{6}$/i.test(color)) return
  throw new AppError('invalid', 'color: must be a color such as #3b82f6')
}

/** Removes members from a label and returns the number removed. The label itself remains. Throws `notFound`. */
export function unassign(db: Db, orgId: string, { label, members }: LabelUnassignInput): number {
  return tx(db, () => {
    const id = idOf(db, orgId, label)
    if (id === null) throw new AppError('notFound', NO_SUCH_LABEL)
    const remove = db.prepare('DELETE FROM labelMember WHERE labelId = ? AND vendor = ? AND event = ?')
    return members.reduce((sum, { vendor, event }) => sum + remove.run(id, vendor, event).changes, 0)
  })
}

/** Deletes a label. Rules that refer to it remain and match no events. Throws `notFound`. */
export function deleteLabel(db: Db, key: OrgRowKey): void {
  deleteOrgRow(db, 'DELETE FROM label', key, NO_SUCH_LABEL)
}

function idOf(db: Db, orgId: string, label: string): string | null {
  const find = db.prepare<[string, string], string>('SELECT id FROM label WHERE orgId = ? AND nameKey = ?').pluck()
  return find.get(orgId, keyOfLabel(label)) ?? null
}

function create(db: Db, clock: Clock, orgId: string, name: string): string {
  const count = db.prepare<[string], number>('SELECT count(*) FROM label WHERE orgId = ?').pluck().get(orgId) ?? 0
  if (count >= MAX_LABELS) {
    throw new AppError('conflict', `label: an organization has at most ${MAX_LABELS} labels; delete one first`)
  }
  const createdAt = clock.now()
  const id = newId('lbl', createdAt)
  db.prepare(
    `INSERT INTO label (id, orgId, name, nameKey, color, kind, createdAt)
     VALUES (@id, @orgId, @name, @nameKey, @color, 'step', @createdAt)`,
  ).run({ id, orgId, name, nameKey: keyOfLabel(name), color: colorOf(count), createdAt })
  return id
}

function checkedName(label: string): string {
  const name = label.trim()
  if (!name) throw new AppError('invalid', 'label: must not be blank')
  return name
}

function checkLimits(db: Db, orgId: string, id: string, name: string): void {
  const count = (where: string, value: string) =>
    db
      .prepare<[string], number>(`SELECT count(*) FROM labelMember JOIN label ON label.id = labelId WHERE ${where} = ?`)
      .pluck()
      .get(value) ?? 0
  const own = count('labelId', id)
  if (own > MAX_MEMBERS) {
    throw new AppError('conflict', `members: ${name} would have ${own}; the maximum for a label is ${MAX_MEMBERS}`)
  }
  const all = count('orgId', orgId)
  if (all > MAX_ALL_MEMBERS) {
    throw new AppError(
      'conflict',
      `members: all labels together would have ${all}; the maximum for an organization is ${MAX_ALL_MEMBERS}`,
    )
  }
}
