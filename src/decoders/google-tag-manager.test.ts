import { testDecoder } from './decoder-cases.ts'
import { googleTagManager } from './google-tag-manager.ts'

// https://developers.google.com/tag-platform/tag-manager/web
testDecoder(googleTagManager, [
  {
    name: 'a container',
    url: 'https://www.googletagmanager.com/gtm.js?id=GTM-ABC123&l=layer',
    account: 'GTM-ABC123',
    events: [''],
    kind: 'library',
    params: { l: 'layer' },
  },
  {
    name: 'a container for browsers without JavaScript',
    url: 'https://www.googletagmanager.com/ns.html?id=GTM-ABC123',
    account: 'GTM-ABC123',
    events: [''],
    kind: 'library',
  },
  {
    name: 'a container from a first-party server',
    url: 'https://data.shop.example/x7y8.js?id=GTM-ABC123',
    account: 'GTM-ABC123',
    events: [''],
    kind: 'library',
  },
  { name: "the container's telemetry", url: 'https://www.googletagmanager.com/a?id=GTM-ABC123&v=3&t=t', events: [] },
  { name: 'an unrelated script', url: 'https://shop.example/gtm.js?id=7', events: null },
  { name: 'the Analytics library', url: 'https://www.googletagmanager.com/gtag/js?id=G-TEST12345', events: null },
])
