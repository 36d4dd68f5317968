import type { Clock } from '../core/clock.ts'
import { Closed, Type } from '../core/schema.ts'
import { captureSettings } from '../domains/capture-settings.ts'
import { routingOf } from '../domains/domain.ts'
import { findDomain } from '../domains/store.ts'
import { ById, type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import type { ScriptBundle } from './script-bundle.ts'
import { SetupGuideSchema, setupGuide } from './setup-guide.ts'
import { snippetOf } from './snippet.ts'

const SnippetSchema = Closed(
  {
    head: Type.String({ description: 'HTML to paste as the first element of <head>' }),
    template: Type.String({ description: 'Custom template for Google Tag Manager, to be saved as a .tpl file' }),
    scriptUrl: Type.String({
      description: 'URL of the browser script, which contains the configuration of the domain',
    }),
    configUrl: Type.String({ description: 'URL of the configuration as JSON' }),
    eventsUrl: Type.String({ description: 'URL to which servers and apps send events' }),
    guide: SetupGuideSchema,
  },
  {
    $id: 'Snippet',
    examples: [
      {
        head: '<script>(()=>{…})();</script>',
        template: '___INFO___\n\n{"type": "TAG", …}',
        scriptUrl: 'https://collect.example.com/t/pt_5yq0w3m1nCk8hX2bVtJ7rLzE9sAaGdQfUoPiKxBvT4c.js',
        configUrl: 'https://collect.example.com/t/pt_5yq0w3m1nCk8hX2bVtJ7rLzE9sAaGdQfUoPiKxBvT4c.json',
        eventsUrl: 'https://collect.example.com/api/v1/events',
        guide: SetupGuideSchema.examples?.[0],
      },
    ],
  },
)

export interface SnippetRouteDeps {
  db: Db
  clock: Clock
  /** Public URLs of the collector and the interface, without a path. */
  collectUrl: string
  publicUrl: string
  bundle(): Promise<ScriptBundle>
}

/** Routes for the code that customers put into their pages. */
export function snippetRoutes(parts: SnippetRouteDeps): Route[] {
  const { db, clock, bundle } = parts
  return [
    route({
      id: 'getSnippet',
      method: 'GET',
      path: '/v1/domains/{id}/snippet',
      access: 'seeTokens',
      tag: 'Domains',
      summary: "Get the code that captures a domain's events, with instructions for installing it",
      params: ById,
      answer: SnippetSchema,
      async handle({ principal: { orgId }, params: { id } }) {
        const domain = findDomain(db, { orgId, id }, clock.now())
        const { token, system } = domain
        const { enabled, sampleRate } = captureSettings(db, { orgId, id })
        const { collectEndpoint: eventsUrl } = routingOf(domain, parts)
        const { stub } = await bundle()
        const { script, ...snippet } = snippetOf({ token, base: eventsUrl, stub })
        const values = { ...snippet, script, token, eventsUrl, sampleRate: enabled ? sampleRate : { prod: 0, dev: 0 } }
        return { ...snippet, eventsUrl, guide: setupGuide(system, values) }
      },
    }),
  ]
}
