import type { IconProps } from '@tabler/icons-react'
import { lazyRouteComponent, type RouteComponent } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import type { PagePath } from '../../contract/page-paths.ts'
import type { Role } from '../../contract/roles.ts'
import { ApiError } from '../api/api-error.ts'
import type { PrefetchOptions } from '../api/queries.ts'
import { messages } from '../messages.ts'
import type { ParamTypes, ValuesOf } from '../url-state/param-types.ts'
import type { SharedParams } from '../url-state/search-params.ts'

/** Groups of the navigation, in display order. The first one has no title. */
export const NAVIGATION_GROUPS = ['first', 'watch', 'understand', 'connect'] as const

/** How users open a page from everywhere. */
export interface MenuEntry {
  /** Name in the navigation, the command palette and the list of keyboard shortcuts. */
  title(): string
  /** Additional search terms in the command palette. */
  keywords(): string
  /** Keys that open the page, such as `g i`; empty for none. */
  keys: string
  /** Place in the navigation; null for a page that only the command palette lists. */
  navigation: { group: (typeof NAVIGATION_GROUPS)[number]; icon: ComponentType<IconProps> } | null
  /** For an action, such as "New alert": the lowest role that can perform it. Null for a page that anyone can read. */
  action: Role | null
}

/** Values on which the queries of a page depend: all search params, and the id in its path (empty without one). */
export type PageValues<Fields extends ParamTypes> = ValuesOf<Fields & SharedParams> & { id: string }

/** A page of the dashboard. The router, navigation, command palette and keyboard shortcuts are derived from it. */
export interface Page<Path extends PagePath = PagePath, Fields extends ParamTypes = ParamTypes> {
  path: Path
  /** Search params in addition to project and time range. */
  search: Fields
  /** Queries to prefetch when the page opens or a link to it is hovered over. */
  queries(values: PageValues<Fields>): readonly PrefetchOptions[]
  /** Null for a page that is opened only from other pages. */
  menu: MenuEntry | null
  /** True if the page doesn't require a session. */
  isPublic: boolean
  /** Loaded when the page is first shown. */
  view: RouteComponent
}

type PageInput<Path extends PagePath, Fields extends ParamTypes> = Pick<Page<Path, Fields>, 'path' | 'view'> &
  Partial<Omit<Page<Path, Fields>, 'menu'>> & { menu?: Pick<MenuEntry, 'title'> & Partial<MenuEntry> }

const MENU_DEFAULTS = { keywords: () => '', keys: '', navigation: null, action: null } satisfies Partial<MenuEntry>

/** Defines a page. By default, it has no queries, no menu entry, and only the search params that all pages have. */
export const page = <Path extends PagePath, Fields extends ParamTypes = Record<never, never>>({
  menu,
  ...given
}: PageInput<Path, Fields>): Page<Path, Fields> => ({
  search: {} as Fields,
  queries: () => [],
  isPublic: false,
  ...given,
  menu: menu ? { ...MENU_DEFAULTS, ...menu } : null,
})

/**
 * Returns a view of a module. The module is loaded when the view is first shown or preloaded, together with the views of all
 * pages of its area.
 */
export const lazyView = <Views extends Record<string, unknown>, Name extends keyof Views>(
  load: () => Promise<Views>,
  name: Name,
) => lazyRouteComponent(() => load().catch(reportUnreachable), name)

/** Prevents the router from reloading the document while the server is unreachable. */
async function reportUnreachable(error: unknown): Promise<never> {
  await fetch('/', { method: 'HEAD' }).catch(() => {
    throw new ApiError(messages.shell.unreachable, 0, null)
  })
  throw error
}
