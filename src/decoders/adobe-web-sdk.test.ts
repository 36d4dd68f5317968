import { adobeWebSdk } from './adobe-web-sdk.ts'
import { testDecoder } from './decoder-cases.ts'

const event = (eventType: string) => ({ xdm: { eventType, web: { webPageDetails: { name: 'home' } } } })

// https://experienceleague.adobe.com/en/docs/experience-platform/edge-network-server-api/overview
testDecoder(adobeWebSdk, [
  {
    name: 'a batch of events',
    url: 'https://edge.adobedc.net/ee/irl1/v1/interact?configId=ds-1&requestId=r1',
    body: JSON.stringify({
      meta: { state: { domain: 'shop.example' } },
      events: [event('web.webpagedetails.pageViews'), event('commerce.purchases')],
    }),
    account: 'ds-1',
    events: ['web.webpagedetails.pageViews', 'commerce.purchases'],
    params: { 'xdm.web.webPageDetails.name': 'home', 'meta.state.domain': 'shop.example' },
  },
  {
    name: "on the shop's host",
    url: 'https://data.shop.example/ee/v1/collect?configId=ds-1',
    body: JSON.stringify({ events: [event('decisioning.propositionDisplay')] }),
    account: 'ds-1',
    events: ['decisioning.propositionDisplay'],
  },
  {
    name: "a shop's settings under a similar path",
    url: 'https://shop.example/api/v1/collect?configId=main',
    body: '{"events":[]}',
    events: null,
  },
  {
    name: 'an event without a type',
    url: 'https://adobedc.demdex.net/ee/v1/interact?configId=ds-1',
    body: JSON.stringify({ events: [{ xdm: { web: { webPageDetails: { pageViews: { value: 1 } } } } }, { data: {} }] }),
    account: 'ds-1',
    events: ['web.webpagedetails.pageViews', ''],
  },
  {
    name: 'a server event',
    url: 'https://server.adobedc.net/ee/v2/interact?dataStreamId=ds-1',
    body: JSON.stringify({ event: event('commerce.purchases') }),
    account: 'ds-1',
    events: ['commerce.purchases'],
  },
  {
    name: 'media',
    url: 'https://edge.adobedc.net/ee/va/v1/play?configId=ds-1',
    body: JSON.stringify({ events: [event('media.play')] }),
    account: 'ds-1',
    events: ['media.play'],
  },
  { name: 'consent', url: 'https://edge.adobedc.net/ee/v1/privacy/set-consent?configId=d', body: '{}', events: [] },
  {
    name: 'the library',
    url: 'https://cdn1.adoberesources.net/alloy/2.33.1/alloy.min.js',
    events: [''],
    kind: 'library',
  },
  {
    name: 'a malformed body',
    url: 'https://edge.adobedc.net/ee/v1/interact?configId=ds-1',
    body: '[1]',
    events: [],
    error: 'Adobe Experience Platform Web SDK: the body is not a JSON object',
  },
  { name: 'another site', url: 'https://shop.example/v1/collect', body: '{}', events: null },
])
