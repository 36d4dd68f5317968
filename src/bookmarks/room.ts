import type { Base, Room } from '../base.ts'
import { Closed, Type } from '../core/schema.ts'
import { route } from '../http/route.ts'

/** Paths that an organization's members return to. */
export function openBookmarks({ db }: Base): Room {
  return {
    routes: [
      route({
        id: 'listBookmarks',
        method: 'GET',
        path: '/v1/bookmarks',
        access: 'read',
        tag: 'Search',
        summary: 'List bookmarks',
        tool: true,
        answer: Closed({ paths: Type.Array(Type.String()) }, { $id: 'Bookmarks', examples: [{ paths: ['/issues'] }] }),
        handle({ principal: { orgId } }) {
          const select = db.prepare<[string], string>('SELECT path FROM bookmark WHERE orgId = ? ORDER BY path')
          return { paths: select.pluck().all(orgId) }
        },
      }),
    ],
  }
}
