import type { CDPSession } from 'puppeteer-core'

/** Memory used by a page, in bytes: JavaScript objects, and the code that V8 compiled from its scripts. */
interface Heap {
  kept: number
  compiled: number
}

/** Request data that DevTools stores only because the page is being measured. */
const OF_THE_MEASURING = 'blink::NetworkResourcesData::ResourceData'

interface Snapshot {
  snapshot: { meta: { node_fields: string[]; node_types: [string[]] } }
  nodes: number[]
  strings: string[]
}

/**
 * Reads a heap snapshot, which Chromium takes after a full garbage collection. Compiled code is counted separately,
 * because it grows for a while on any page: V8 recompiles frequently run functions into larger machine code. Node
 * types: https://github.com/v8/v8/blob/main/src/profiler/heap-snapshot-generator.h
 */
export async function heapOf(cdp: CDPSession): Promise<Heap> {
  const { snapshot, nodes, strings } = JSON.parse(await takeSnapshot(cdp)) as Snapshot
  const { node_fields: fields, node_types: types } = snapshot.meta
  const [type, name, size] = ['type', 'name', 'self_size'].map((field) => fields.indexOf(field)) as [
    number,
    number,
    number,
  ]
  const heap = { kept: 0, compiled: 0 }
  for (let at = 0; at < nodes.length; at += fields.length) {
    if (strings[nodes[at + name] ?? 0] === OF_THE_MEASURING) continue
    heap[types[0][nodes[at + type] ?? 0] === 'code' ? 'compiled' : 'kept'] += nodes[at + size] ?? 0
  }
  return heap
}

async function takeSnapshot(cdp: CDPSession): Promise<string> {
  const chunks: string[] = []
  const take = ({ chunk }: { chunk: string }) => chunks.push(chunk)
  cdp.on('HeapProfiler.addHeapSnapshotChunk', take)
  await cdp.send('HeapProfiler.takeHeapSnapshot')
  cdp.off('HeapProfiler.addHeapSnapshotChunk', take)
  return chunks.join('')
}
