import { testDecoder } from './decoder-cases.ts'
import { spotifyAdAnalytics } from './spotify-ad-analytics.ts'

// https://help.adanalytics.spotify.com/pixel-events
testDecoder(spotifyAdAnalytics, [
  {
    name: 'a batch',
    url: 'https://pixels.spotify.com/v1/ingest',
    body: JSON.stringify({
      batch: [
        { pid: 'pix1', events: [{ action: 'view', body: { url: 'https://shop.example/' } }, { action: 'lead' }] },
      ],
    }),
    account: 'pix1',
    events: ['view', 'lead'],
    params: { url: 'https://shop.example/' },
  },
  {
    name: 'a Podsights tag',
    url: 'https://us-central1-adaptive-growth.cloudfunctions.net/pdst-events-prod-sink?key=pix1&action=view',
    account: 'pix1',
    events: ['view'],
  },
  { name: 'the library', url: 'https://pixel.byspotify.com/ping.min.js', events: [''], kind: 'library' },
  {
    name: 'a malformed body',
    url: 'https://pixels.spotify.com/v1/ingest',
    body: '{"batch":',
    events: [],
    error: 'Spotify Ad Analytics: the body is not JSON',
  },
  { name: 'a player request', url: 'https://open.spotify.com/v1/ingest', events: null },
])
