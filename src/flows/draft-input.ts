import { Closed, type Static, Text, Type } from '../core/schema.ts'

const HAR = {
  log: {
    version: '1.2',
    entries: [
      {
        _resourceType: 'document',
        startedDateTime: '2026-01-05T12:00:00.000Z',
        request: { method: 'GET', url: 'https://shop.example/', headers: [] },
        response: { status: 200, headers: [{ name: 'content-type', value: 'text/html' }] },
      },
    ],
  },
}

export const DraftInputSchema = Closed(
  {
    sessionId: Type.Optional(Text(1, 200, { description: 'Id of a visitor’s session in the event history' })),
    har: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'A HAR, instead of a session' })),
    harZip: Type.Optional(
      Type.String({
        description:
          'Base64-encoded ZIP archive of a HAR and its attachments (`.har.zip`), instead of a session. The HAR can unpack to at most 32 MiB',
      }),
    ),
    recording: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          'JSON exported by the Recorder of Chrome DevTools, instead of a session. Steps that can’t be executed are left out and listed in `skippedSteps`',
      }),
    ),
  },
  { $id: 'FlowDraftInput', examples: [{ har: HAR }] },
)
export type DraftInput = Static<typeof DraftInputSchema>
