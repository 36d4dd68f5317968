import { openapi } from '@elysiajs/openapi'

/** `GET /openapi.json`: the description of every route, drawn from the routes themselves. */
export function openApiDocument() {
  return openapi({
    path: '/docs',
    specPath: '/openapi.json',
    // The page with the documentation comes with the dashboard; it must not load anything from elsewhere.
    provider: null,
    openapiVersion: '3.1.0',
    documentation: {
      info: {
        title: 'Tagwarden',
        version: '1.0.0',
        description: 'Watches the analytics and marketing tags of websites and apps.',
      },
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'An API key (`ak_…`) or a session token (`st_…`)' },
        },
      },
      security: [{ bearer: [] }],
    },
  })
}
