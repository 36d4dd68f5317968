import type { Clock } from '../core/clock.ts'
import { Closed, Type } from '../core/schema.ts'
import { NextCursorSchema, pagingFields } from '../http/paging.ts'
import { ById, OK, OkSchema, type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import {
  MAX_WINDOWS,
  MaintenanceInputSchema,
  MaintenancePreviewSchema,
  MaintenanceSchema,
  MaintenanceTimesSchema,
} from './maintenance.ts'
import {
  createMaintenance,
  deleteMaintenance,
  findMaintenance,
  listMaintenance,
  previewMaintenance,
  updateMaintenance,
} from './store.ts'

export interface MaintenanceRouteDeps {
  db: Db
  clock: Clock
  /** Called in the transaction of each change to an organization's windows. */
  changed(orgId: string): void
}

const tag = 'Maintenance'
const MaintenanceListSchema = Closed(
  { maintenance: Type.Array(MaintenanceSchema), nextCursor: NextCursorSchema },
  { $id: 'MaintenanceList' },
)

/** Routes for maintenance windows, under `/v1/maintenance`. */
export function maintenanceRoutes({ db, clock, changed }: MaintenanceRouteDeps): Route[] {
  return [
    route({
      id: 'listMaintenance',
      method: 'GET',
      path: '/v1/maintenance',
      access: 'read',
      tag,
      summary: 'List maintenance windows with their next occurrences, oldest first',
      tool: true,
      query: Closed(pagingFields),
      answer: MaintenanceListSchema,
      exports: 'maintenance',
      handle({ principal: { orgId }, query }) {
        const { items, nextCursor } = listMaintenance(db, orgId, query, clock.now())
        return { maintenance: items, nextCursor }
      },
    }),
    route({
      id: 'getMaintenance',
      method: 'GET',
      path: '/v1/maintenance/{id}',
      access: 'read',
      tag,
      summary: 'Get a maintenance window with its next occurrences',
      params: ById,
      answer: MaintenanceSchema,
      handle: ({ principal: { orgId }, params: { id } }) => findMaintenance(db, { orgId, id }, clock.now()),
    }),
    route({
      id: 'createMaintenance',
      method: 'POST',
      path: '/v1/maintenance',
      access: 'edit',
      tag,
      summary: 'Create a maintenance window, during which notifications are withheld',
      description:
        'Issues are opened and counted as usual. When the window ends, issues that are still open and have not been ' +
        'announced are announced. Resolutions of issues that were announced before are sent during the window. An issue ' +
        `must match all of \`domainIds\`, \`projectId\` and \`vendors\`. At most ${MAX_WINDOWS} windows per organization.`,
      refusals: ['conflict'],
      tool: true,
      body: MaintenanceInputSchema,
      status: 201,
      answer: MaintenanceSchema,
      handle({ principal: { orgId }, body }) {
        const window = createMaintenance(db, clock, orgId, body)
        changed(orgId)
        return window
      },
    }),
    route({
      id: 'previewMaintenance',
      method: 'POST',
      path: '/v1/maintenance/preview',
      access: 'read',
      tag,
      summary: 'List the next occurrences of a maintenance window without saving it',
      body: MaintenanceTimesSchema,
      answer: MaintenancePreviewSchema,
      handle: ({ body }) => ({ nextOccurrences: previewMaintenance(body, clock.now()) }),
    }),
    route({
      id: 'replaceMaintenance',
      method: 'PUT',
      path: '/v1/maintenance/{id}',
      access: 'edit',
      tag,
      summary: 'Replace a maintenance window',
      tool: true,
      params: ById,
      body: MaintenanceInputSchema,
      answer: MaintenanceSchema,
      handle({ principal: { orgId }, params: { id }, body }) {
        const window = updateMaintenance(db, clock, { orgId, id }, body)
        changed(orgId)
        return window
      },
    }),
    route({
      id: 'deleteMaintenance',
      method: 'DELETE',
      path: '/v1/maintenance/{id}',
      access: 'edit',
      tag,
      summary: 'Delete a maintenance window; notifications that it withholds are sent',
      tool: true,
      params: ById,
      answer: OkSchema,
      handle({ principal: { orgId }, params: { id } }) {
        deleteMaintenance(db, { orgId, id })
        changed(orgId)
        return OK
      },
    }),
  ]
}
