import { Closed, Int, OneOf, Text, Type } from '../core/schema.ts'
import { type Route, route } from '../http/route.ts'
import { FOUND_KINDS, type SearchDeps, search } from './search.ts'

const DEFAULT_RESULTS = 20

const SearchQuery = Closed({
  q: Text(2, 100, { description: 'Words or an id', examples: ['purchase'] }),
  limit: Type.Optional(Int({ minimum: 1, maximum: 50, default: DEFAULT_RESULTS })),
})

const SearchSchema = Closed(
  {
    results: Type.Array(
      Closed({
        kind: OneOf(FOUND_KINDS),
        id: Type.String({ description: 'Id; for vendors and events, which have none, the name' }),
        title: Type.String(),
        detail: Type.String({
          description: 'Details that distinguish the result from others with the same title; can be empty',
        }),
        path: Type.String({ description: 'Path of the page in the dashboard' }),
      }),
      { description: 'Best match first' },
    ),
  },
  {
    $id: 'SearchResults',
    examples: [
      {
        results: [
          {
            kind: 'event',
            id: 'Google Analytics 4 purchase',
            title: 'purchase',
            detail: 'Google Analytics 4 on Shop',
            path: '/explore/dictionary?vendor=Google+Analytics+4&event=purchase',
          },
        ],
      },
    ],
  },
)

/** Search by name: `GET /v1/search`. */
export function searchRoutes(parts: SearchDeps): Route[] {
  return [
    route({
      id: 'searchNames',
      method: 'GET',
      path: '/v1/search',
      access: 'read',
      tag: 'Search',
      summary: 'Search issues, alerts, domains, vendors, events, changes and members by name, best match first',
      tool: true,
      query: SearchQuery,
      answer: SearchSchema,
      handle: ({ principal, query: { q, limit = DEFAULT_RESULTS } }) => ({
        results: search(parts, principal, q, limit),
      }),
    }),
  ]
}
