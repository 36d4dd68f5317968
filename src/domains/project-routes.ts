import type { Clock } from '../core/clock.ts'
import { Closed, Type } from '../core/schema.ts'
import { NextCursorSchema, pagingFields } from '../http/paging.ts'
import { ById, OK, OkSchema, type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import { ProjectInputSchema, ProjectPatchSchema, ProjectSchema } from './project.ts'
import { createProject, deleteProject, findProject, listProjects, updateProject } from './project-store.ts'

const tag = 'Projects'
const ProjectList = Closed(
  { projects: Type.Array(ProjectSchema), nextCursor: NextCursorSchema },
  { $id: 'ProjectList' },
)

/** Returns the routes for groups of domains under `/v1/projects`. */
export function projectRoutes({ db, clock }: { db: Db; clock: Clock }): Route[] {
  return [
    route({
      id: 'listProjects',
      method: 'GET',
      path: '/v1/projects',
      access: 'read',
      tag,
      summary: 'List projects with the ids of their domains, oldest first',
      tool: true,
      query: Closed(pagingFields),
      answer: ProjectList,
      exports: 'projects',
      handle({ principal: { orgId }, query }) {
        const { items, nextCursor } = listProjects(db, orgId, query)
        return { projects: items, nextCursor }
      },
    }),
    route({
      id: 'getProject',
      method: 'GET',
      path: '/v1/projects/{id}',
      access: 'read',
      tag,
      summary: 'Get a project with the ids of its domains',
      params: ById,
      answer: ProjectSchema,
      handle: ({ principal: { orgId }, params: { id } }) => findProject(db, { orgId, id }),
    }),
    route({
      id: 'createProject',
      method: 'POST',
      path: '/v1/projects',
      access: 'administer',
      tag,
      summary: 'Create a project; domains of other projects are moved to it',
      refusals: ['conflict'],
      body: ProjectInputSchema,
      status: 201,
      answer: ProjectSchema,
      handle: ({ principal, body }) => createProject(db, clock, principal.orgId, body),
      note: ({ body: { name } }) => ({ name }),
    }),
    route({
      id: 'updateProject',
      method: 'PATCH',
      path: '/v1/projects/{id}',
      access: 'administer',
      tag,
      summary: 'Rename a project or replace its domains; omitted fields remain unchanged',
      refusals: ['conflict'],
      params: ById,
      body: ProjectPatchSchema,
      answer: ProjectSchema,
      handle: ({ principal: { orgId }, params: { id }, body }) => updateProject(db, { orgId, id }, body),
      note: ({ body: { name } }) => ({ name }),
    }),
    route({
      id: 'deleteProject',
      method: 'DELETE',
      path: '/v1/projects/{id}',
      access: 'administer',
      tag,
      summary: 'Delete a project; its domains are kept',
      params: ById,
      answer: OkSchema,
      handle({ principal: { orgId }, params: { id } }) {
        deleteProject(db, { orgId, id })
        return OK
      },
    }),
  ]
}
