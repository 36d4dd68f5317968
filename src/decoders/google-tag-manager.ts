import type { Decoder } from './decoder.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'

/**
 * Containers. If a server-side container serves them, they are on the customer's own host, often with a different file
 * name.
 */
export const googleTagManager: Decoder = {
  vendor: 'Google Tag Manager',
  source: 'https://developers.google.com/tag-platform/tag-manager/web',
  hosts: ['googletagmanager.com'],
  routes: [
    scriptLoad(/^\/(?:gtm\.js|ns\.html|amp\.json)$/, 'id'),
    // The container's own telemetry, and the service worker that sends requests for the container.
    sideChannel(/^\/(?:a|td|debug\/.*|gtag\/amp|static\/service_worker\/.*)$/),
    {
      ...scriptLoad(/\.(?:js|html)$|\/gtag\/js$/, 'id'),
      anyHost: true,
      mark: /[?&]id=GTM-/,
      when: (request) => request.search.includes('GTM-') && /^GTM-/.test(request.query.id ?? ''),
    },
  ],
}
