import { SAVED_VIEW_PAGES } from '../contract/saved-view-pages.ts'
import { Closed, InstantSchema, OneOf, type Static, Text, Type } from '../core/schema.ts'

/** Maximum number of views that a user can save in an organization. */
export const MAX_VIEWS = 100

const SHARED = 'True if every member of the organization sees the view'

const fields = {
  page: OneOf(SAVED_VIEW_PAGES, { description: 'List that the view belongs to' }),
  name: Text(1, 100, { description: 'Name in the menu of views', examples: ['Critical in the checkout'] }),
  search: Type.String({
    maxLength: 2000,
    description: 'Filters and sort order as in the URL of the page, without `?`. Empty: the default filters',
    examples: ['severity=critical&sort=lastSeenAt'],
  }),
  isShared: Type.Boolean({ description: SHARED }),
}

export const SavedViewSchema = Closed(
  {
    id: Type.String(),
    ...fields,
    isOwn: Type.Boolean({ description: 'True if the caller saved the view' }),
    createdAt: InstantSchema,
  },
  {
    $id: 'SavedView',
    examples: [
      {
        id: 'vie_01ke7jm2q0d3k8f1z6y5b7n4ta',
        page: 'issues',
        name: 'Critical in the checkout',
        search: 'severity=critical&sort=lastSeenAt',
        isShared: false,
        isOwn: true,
        createdAt: 1_767_614_400_000,
      },
    ],
  },
)
export type SavedView = Static<typeof SavedViewSchema>

export const SavedViewInputSchema = Closed(
  { ...fields, isShared: Type.Optional(Type.Boolean({ default: false, description: SHARED })) },
  {
    $id: 'SavedViewInput',
    examples: [{ page: 'issues', name: 'Critical in the checkout', search: 'severity=critical', isShared: false }],
  },
)
export type SavedViewInput = Static<typeof SavedViewInputSchema>

export const SavedViewPatchSchema = Closed(
  {
    name: Type.Optional(fields.name),
    search: Type.Optional(fields.search),
    isShared: Type.Optional(fields.isShared),
  },
  { $id: 'SavedViewPatch', examples: [{ name: 'Critical issues' }] },
)
export type SavedViewPatch = Static<typeof SavedViewPatchSchema>
