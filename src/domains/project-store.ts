import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { newId } from '../core/id.ts'
import { type Page, type PageRequest, readPage } from '../http/paging.ts'
import { type Db, tx } from '../store/database.ts'
import { findOrgRow, type OrgRowKey } from '../store/org-rows.ts'
import type { Project, ProjectInput, ProjectPatch } from './project.ts'
import { freeName, hasDomain } from './store.ts'

type ProjectRow = Omit<Project, 'domainIds'> & { domainIds: string }

// The domains of each project are in the order in which domains are listed: oldest first.
const SELECT_PROJECT = `
  SELECT id, name, createdAt,
    (SELECT json_group_array(domain.id ORDER BY domain.id) FROM domain WHERE projectId = project.id) AS domainIds
  FROM project`

const projectOf = (row: ProjectRow): Project => ({ ...row, domainIds: JSON.parse(row.domainIds) })

/** Returns a page of projects, oldest first. */
export function listProjects(db: Db, orgId: string, page: PageRequest): Page<Project> {
  const sql = `${SELECT_PROJECT} WHERE orgId = @orgId`
  return readPage(db, page, { sql, values: { orgId }, sortBy: 'id', itemOf: projectOf })
}

/** Returns the project. Throws `notFound` when the organization has no project with this id. */
export function findProject(db: Db, project: OrgRowKey): Project {
  return projectOf(findOrgRow<ProjectRow>(db, SELECT_PROJECT, project, 'no such project'))
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
  if (typeof domainId === 'string' && !hasDomain(db, { orgId, id: domainId })) {
    throw new AppError('notFound', 'query.domainId: no such domain')
  }
  const named = typeof domainId === 'string' ? [domainId] : (domainId ?? null)
  if (projectId === undefined) return named
  const { domainIds } = findProject(db, { orgId, id: projectId })
  return named === null ? domainIds : domainIds.filter((id) => named.includes(id))
}

/**
 * Sets the domains of a project. Throws `invalid`, naming the first domain that does not belong to the organization.
 */
function setDomains(db: Db, { orgId, id }: OrgRowKey, domainIds: readonly string[]): void {
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
      name: freeName(db, 'project', project, name),
      createdAt,
    })
    setDomains(db, project, domainIds)
    return findProject(db, project)
  })
}

/** Changes the given fields. Throws `notFound` and the errors of `createProject`. */
export function updateProject(db: Db, project: OrgRowKey, { name, domainIds }: ProjectPatch): Project {
  return tx(db, () => {
    findProject(db, project)
    if (name !== undefined) {
      db.prepare('UPDATE project SET name = ? WHERE id = ?').run(freeName(db, 'project', project, name), project.id)
    }
    if (domainIds !== undefined) setDomains(db, project, domainIds)
    return findProject(db, project)
  })
}

/** Deletes a project. Its domains then belong to no project. Throws `notFound`. */
export function deleteProject(db: Db, project: OrgRowKey): void {
  tx(db, () => {
    findProject(db, project)
    setDomains(db, project, [])
    db.prepare('DELETE FROM project WHERE id = ?').run(project.id)
  })
}
