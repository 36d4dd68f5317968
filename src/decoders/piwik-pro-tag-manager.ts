import type { Decoder } from './decoder.ts'
import { scriptLoad } from './route-builders.ts'

const CONTAINER =
  /\/(?:containers\/)?(?<account>[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12})(?:\.\w+)?\.js$/

const SELF_HOSTED = new RegExp(`/containers/(?:.+/)?${CONTAINER.source.slice(CONTAINER.source.indexOf('(?<'))}`)

/** The file of a container is named after the account. The customer's own host may serve it with the same path. */
export const piwikProTagManager: Decoder = {
  vendor: 'Piwik PRO Tag Manager',
  source: 'https://help.piwik.pro/support/getting-started/install-a-container-with-tags/',
  hosts: ['piwik.pro'],
  routes: [
    scriptLoad(CONTAINER),
    scriptLoad(/^\/containers\/(?<account>[\w-]+)(?:\.sync)?\.js$/),
    { ...scriptLoad(SELF_HOSTED), anyHost: true },
  ],
}
