/** A server that only parses the JSON of each batch. `bun bench/collector/minimal-server.ts PORT` */
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.argv[2] ?? 0),
  async fetch(request) {
    const batch = (await request.json()) as { events: unknown[] }
    return Response.json({ accepted: batch.events.length, rejected: 0, errors: [] }, { status: 202 })
  },
})
console.log(`listening on http://127.0.0.1:${server.port}`)
