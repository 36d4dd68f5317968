import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { newId } from '../core/id.ts'
import { type Db, tx } from '../store/database.ts'
import type { Project, ProjectInput, ProjectPatch } from './project.ts'
import type { Slice } from './store.ts'

/** Identifies a project within one organization. Projects of other organizations are not found. */
export interface ProjectKey {
  orgId: string
  id: string
}

type ProjectRow = Omit<Project, 'domainIds'> & { domainIds: string }

// The domains of each project are in the order in which domains are listed: oldest first.
const SELECT_PROJECT = `
  SELECT id, name, createdAt,
    (SELECT json_group_array(domain.id ORDER BY domain.id) FROM domain WHERE projectId = project.id) AS domainIds
  FROM project WHERE orgId = @orgId`

const projectOf = (row: ProjectRow): Project => ({ ...row, domainIds: JSON.parse(row.domainIds) })

/** Returns at most `limit + 1` projects, oldest first, so that the caller can detect a next page. */
export function listProjects(db: Db, orgId: string, { after, limit }: Slice): Project[] {
  return db
    .prepare<[object], ProjectRow>(`${SELECT_PROJECT} AND (@after IS NULL OR id > @after) ORDER BY id LIMIT @limit + 1`)
    .all({ orgId, after, limit })
    .map(projectOf)
}

/** Returns the project. Throws `notFound` when the organization has no project with this id. */
export function findProject(db: Db, { orgId, id }: ProjectKey): Project {
  const row = db.prepare<[object], ProjectRow>(`${SELECT_PROJECT} AND id = @id`).get({ orgId, id })
  if (!row) throw new AppError('notFound', 'no such project')
  return projectOf(row)
}

/** A filter for domains. A domain must match both fields. */
export interface DomainsNamed {
  domainId?: string | readonly string[] | undefined
  projectId?: string | undefined
}

/**
 * Returns the ids of the domains that match the filter; null when the filter is empty. Throws `notFound` when the
 * project does not exist in the organization, or when `domainId` is a single id that does not exist there. Unknown ids
 * in a list are ignored.
 */
export function domainIdsNamed(db: Db, orgId: string, { domainId, projectId }: DomainsNamed): readonly string[] | null {
  if (
    typeof domainId === 'string' &&
    !db.prepare('SELECT 1 FROM domain WHERE orgId = ? AND id = ?').get(orgId, domainId)
  ) {
    throw new AppError('notFound', 'query.domainId: no such domain')
  }
  const named = typeof domainId === 'string' ? [domainId] : (domainId ?? null)
  if (projectId === undefined) return named
  const { domainIds } = findProject(db, { orgId, id: projectId })
  return named === null ? domainIds : domainIds.filter((id) => named.includes(id))
}

/**
 * Returns the trimmed name. Throws `invalid` when the name is blank, and `conflict` when another project in the
 * organization has the same name.
 */
function freeName(db: Db, { orgId, id }: ProjectKey, name: string): string {
  const trimmed = name.trim()
  if (!trimmed) throw new AppError('invalid', 'name: must not be blank')
  const taken = db
    .prepare('SELECT 1 FROM project WHERE orgId = ? AND name = ? COLLATE NOCASE AND id <> ?')
    .get(orgId, trimmed, id)
  if (taken) throw new AppError('conflict', 'name: another project in this organization has this name')
  return trimmed
}

/**
 * Sets the domains of a project. Throws `invalid`, naming the first domain that does not belong to the organization.
 */
function setDomains(db: Db, { orgId, id }: ProjectKey, domainIds: readonly string[]): void {
  db.prepare('UPDATE domain SET projectId = NULL WHERE projectId = ?').run(id)
  const move = db.prepare('UPDATE domain SET projectId = ? WHERE orgId = ? AND id = ?')
  for (const [index, domainId] of domainIds.entries()) {
    const { changes } = move.run(id, orgId, domainId)
    if (changes === 0) throw new AppError('invalid', `domainIds[${index}]: no such domain`)
  }
}

/**
 * Creates a project. Throws `invalid` for a blank name or an unknown domain, and `conflict` when the name is taken,
 * ignoring case.
 */
export function createProject(db: Db, clock: Clock, orgId: string, { name, domainIds = [] }: ProjectInput): Project {
  const createdAt = clock.now()
  const project = { orgId, id: newId('prj', createdAt) }
  return tx(db, () => {
    db.prepare('INSERT INTO project (id, orgId, name, createdAt) VALUES (@id, @orgId, @name, @createdAt)').run({
      ...project,
      name: freeName(db, project, name),
      createdAt,
    })
    setDomains(db, project, domainIds)
    return findProject(db, project)
  })
}

/** Changes the given fields. Throws `notFound` and the errors of `createProject`. */
export function updateProject(db: Db, project: ProjectKey, { name, domainIds }: ProjectPatch): Project {
  return tx(db, () => {
    findProject(db, project)
    if (name !== undefined) {
      db.prepare('UPDATE project SET name = ? WHERE id = ?').run(freeName(db, project, name), project.id)
    }
    if (domainIds !== undefined) setDomains(db, project, domainIds)
    return findProject(db, project)
  })
}

/** Deletes a project. Its domains then belong to no project. Throws `notFound`. */
export function deleteProject(db: Db, project: ProjectKey): void {
  tx(db, () => {
    findProject(db, project)
    setDomains(db, project, [])
    db.prepare('DELETE FROM project WHERE id = ?').run(project.id)
  })
}
