// Sends events from an Android app (API level 21 or later, Kotlin 1.5 or later) to Tagwarden. No dependencies.
// ExampleApplication.kt shows how to use it.
//
// Each event is appended to a file before it is sent, so no event is lost when the app ends or the network is
// unavailable. A batch is retried with the same id until it is stored, and is counted only once within 24 hours. Each
// process needs its own folder. All methods can be called from any thread. All except close return immediately: the
// work is done on a separate thread.

package com.example.tagwarden

import java.io.ByteArrayOutputStream
import java.io.File
import java.io.FileOutputStream
import java.io.InputStream
import java.net.HttpURLConnection
import java.net.URL
import java.util.Locale
import java.util.UUID
import java.util.concurrent.Executors
import java.util.concurrent.ScheduledFuture
import java.util.concurrent.TimeUnit
import java.util.zip.GZIPOutputStream

private const val EVENTS_URL: String = "{{EVENTS_URL}}"
private const val TOKEN: String = "{{TOKEN}}"

/** Share of devices that send events. A device in the sample stays in it when the share increases. */
private val SAMPLE_RATES: Map<String, Double> = mapOf("prod" to "{{PROD_RATE}}", "dev" to "{{DEV_RATE}}")

/** The server accepts up to 1,000 events and 1 MiB per batch, before compression. */
private const val MAX_BATCH_EVENTS: Int = 100
private const val MAX_BATCH_BYTES: Int = 512 * 1024
/** Maximum queue size. When it is exceeded, the oldest batches are deleted. */
private const val MAX_QUEUE_BYTES: Int = 5 * 1024 * 1024
private const val REQUEST_TIMEOUT_MS: Int = 30_000
private const val MAX_RETRY_MS: Long = 5 * 60_000
/** Delay after a wrong token or URL, and maximum delay that the server can request. */
private const val HOUR_MS: Long = 60 * 60_000
/** A session ends after this time without an event. */
private const val SESSION_MS: Long = 30 * 60_000

/**
 * `folder`: stores the queue and the random id of this installation, such as `File(noBackupFilesDir, "tagwarden")`.
 * `env`: "prod" or "dev". `version`: release number. `onError` is called on a background thread when events are lost or
 * cannot be sent.
 */
class Tagwarden(
    private val folder: File,
    private val env: String = "prod",
    private val version: Int? = null,
    private val sendAfterMs: Long = 10_000,
    private val firstRetryMs: Long = 1000,
    private val onError: (String) -> Unit = {}
) {
    private class OpenBatch(val file: File, val head: String) {
        var events = 0
        var bytes = 0
    }

    private val sampleRate = SAMPLE_RATES[env] ?: 1.0
    /** Everything below is used only on this executor's thread. */
    private val executor = Executors.newSingleThreadScheduledExecutor { task ->
        Thread(task, "tagwarden").apply { isDaemon = true }
    }
    private var isClosed = false
    private var isSampled = false
    private var open: OpenBatch? = null
    private var timer: ScheduledFuture<*>? = null
    private var page: Map<String, Any?>? = null
    private var customerId: String? = null
    private var sessionId = ""
    private var lastEventAt = 0L
    private var lastId = 0L
    private var failures = 0
    private var waitUntil = monotonicMs()

    init {
        run {
            folder.mkdirs()
            isSampled = isDeviceSampled()
            names(".open").forEach(::seal)
            schedule(0)
        }
    }

    /** Queues an event. `fields`: `account`, `status` (ok, failure, exception, timeout, blocked) and `execMs`. */
    fun track(
        vendor: String,
        event: String,
        params: Map<String, Any?> = emptyMap(),
        fields: Map<String, Any?> = emptyMap()
    ) {
        val now = System.currentTimeMillis()
        val item = mapOf("id" to UUID.randomUUID().toString(), "ts" to now, "vendor" to vendor, "event" to event)
        // Serialized immediately, because the caller may change the maps later.
        val line = toJson(item + fields + mapOf("params" to params)) + "\n"
        run { if (isSampled) append(line, now) }
    }

    /** Sets the screen for the following events. The URL can have any scheme: app://shop.example/checkout/payment */
    fun screen(url: String, title: String? = null) = run {
        page = mapOf("url" to url, "title" to title)
    }

    /** Sets the customer for the following events; null if unknown. The server stores a hash of the id. */
    fun customer(id: String?) = run { customerId = id }

    /**
     * Sends the queued events, unless the server requested a delay. Call it when the app goes to the background.
     * `onDone` is called on a background thread after the attempt.
     */
    fun flush(onDone: () -> Unit = {}) = run {
        send()
        onDone()
    }

    /** Tries once to send the queued events, for at most 5 s. The remaining events are sent after the next start. */
    fun close() {
        run {
            isClosed = true
            timer?.cancel(false)
            send()
        }
        executor.shutdown()
        executor.awaitTermination(5, TimeUnit.SECONDS)
    }

    private fun run(task: () -> Unit) {
        if (executor.isShutdown) return
        executor.execute {
            try {
                task()
            } catch (error: Exception) {
                onError("Tagwarden: $error")
            }
        }
    }

    /** The first 32 bits of the id are random, so the share is accurate and a device's result is always the same. */
    private fun isDeviceSampled(): Boolean {
        val file = File(folder, "install-id")
        val known = if (file.exists()) file.readText() else ""
        val id = if (known.length == 36) known else UUID.randomUUID().toString().also(file::writeText)
        return id.substring(0, 8).toLong(16) < sampleRate * 4294967296.0
    }

    private fun append(line: String, now: Long) {
        if (now - lastEventAt > SESSION_MS || lastEventAt > now) sessionId = UUID.randomUUID().toString()
        lastEventAt = now
        val bytes = line.toByteArray()
        if (bytes.size > MAX_BATCH_BYTES) return onError("Tagwarden: an event is larger than $MAX_BATCH_BYTES bytes")
        val head = toJson(
            mapOf(
                "env" to env,
                "version" to version,
                "sampleRate" to sampleRate,
                "sessionId" to sessionId,
                "customerId" to customerId,
                "language" to Locale.getDefault().language,
                "page" to page
            )
        )
        open?.let { if (it.head != head || it.bytes + bytes.size > MAX_BATCH_BYTES) sealOpen() }
        val batch = open ?: OpenBatch(File(folder, newId(now) + ".open"), head).also { open = it }
        try {
            FileOutputStream(batch.file, true).use {
                if (batch.events == 0) it.write((head + "\n").toByteArray())
                it.write(bytes)
            }
        } catch (error: Exception) {
            // The line may be incomplete, so nothing must be appended to this file.
            sealOpen()
            return onError("Tagwarden: an event was lost: $error")
        }
        batch.events++
        batch.bytes += bytes.size
        if (batch.events >= MAX_BATCH_EVENTS) sealOpen()
        schedule(sendAfterMs)
    }

    /** Batch ids sort by time. */
    private fun newId(now: Long): String {
        lastId = maxOf(now, lastId + 1)
        return String.format(Locale.ROOT, "%015d-%s", lastId, UUID.randomUUID())
    }

    private fun schedule(ms: Long) {
        if (timer != null || isClosed) return
        val wait = maxOf(ms, waitUntil - monotonicMs())
        timer = executor.schedule({
            timer = null
            run { send() }
        }, wait, TimeUnit.MILLISECONDS)
    }

    private fun send() {
        sealOpen()
        try {
            for (file in names(".batch")) {
                if (monotonicMs() < waitUntil || !post(file)) break
            }
        } catch (error: Exception) {
            retryAfter(0, error.toString())
        }
        if (names(".batch").isNotEmpty()) schedule(0)
    }

    /** Returns false when the batch must be sent again later. */
    private fun post(file: File): Boolean {
        val text = file.readText()
        // A killed process can leave an incomplete line at the end.
        val lines = text.substring(0, text.lastIndexOf('\n') + 1).split("\n").dropLast(1)
        if (lines.size < 2) {
            file.delete()
            return true
        }
        val own = toJson(mapOf("batchId" to file.nameWithoutExtension, "sentAt" to System.currentTimeMillis()))
        val events = lines.drop(1).joinToString(",")
        val body = own.dropLast(1) + "," + lines[0].drop(1).dropLast(1) + ",\"events\":[" + events + "]}"
        val connection = URL(EVENTS_URL).openConnection() as HttpURLConnection
        val status: Int
        val answer: String
        val asked: Long
        try {
            connection.requestMethod = "POST"
            connection.connectTimeout = REQUEST_TIMEOUT_MS
            connection.readTimeout = REQUEST_TIMEOUT_MS
            connection.instanceFollowRedirects = false
            connection.doOutput = true
            connection.setRequestProperty("Authorization", "Bearer $TOKEN")
            connection.setRequestProperty("Content-Type", "application/json")
            connection.setRequestProperty("Content-Encoding", "gzip")
            val packed = gzip(body)
            connection.setFixedLengthStreamingMode(packed.size)
            connection.outputStream.use { it.write(packed) }
            status = connection.responseCode
            val stream: InputStream? = if (status < 400) connection.inputStream else connection.errorStream
            answer = stream?.use { it.readBytes().toString(Charsets.UTF_8) } ?: ""
            asked = (connection.getHeaderField("Retry-After")?.toLongOrNull() ?: 0) * 1000
        } finally {
            connection.disconnect()
        }
        when (status) {
            202 -> if (!answer.contains("\"rejected\":0")) onError("Tagwarden: events were rejected: $answer")
            400, 413, 415, 422 -> onError("Tagwarden: a batch of ${lines.size - 1} events was rejected: $answer")
            else -> {
                val isRefused = status == 401 || status == 403 || status == 404
                retryAfter(if (isRefused) HOUR_MS else asked, "the server responded with status $status")
                return false
            }
        }
        failures = 0
        file.delete()
        return true
    }

    /** Waits for the time that the server requested, or doubles the delay. Adds up to 50 % at random to spread retries. */
    private fun retryAfter(asked: Long, reason: String) {
        val backoff = minOf(MAX_RETRY_MS, firstRetryMs shl minOf(failures++, 20))
        val wait = if (asked > 0) minOf(asked, HOUR_MS) else backoff
        waitUntil = monotonicMs() + (wait * (1 + Math.random() / 2)).toLong()
        onError("Tagwarden: sending again in $wait ms: $reason")
    }

    private fun sealOpen() {
        val file = open?.file ?: return
        open = null
        seal(file)
    }

    private fun seal(file: File) {
        if (!file.renameTo(File(folder, file.nameWithoutExtension + ".batch"))) return
        var total = 0L
        for (batch in names(".batch").asReversed()) {
            total += batch.length()
            if (total <= MAX_QUEUE_BYTES) continue
            batch.delete()
            onError("Tagwarden: the queue is full, so its oldest batch was deleted")
        }
    }

    /** Returns the oldest first. */
    private fun names(end: String): List<File> =
        folder.listFiles { file -> file.name.endsWith(end) }.orEmpty().sortedBy { it.name }
}

/** A clock that, unlike the time of day, is never set back. */
private fun monotonicMs(): Long = System.nanoTime() / 1_000_000

private fun gzip(text: String): ByteArray {
    val bytes = ByteArrayOutputStream()
    GZIPOutputStream(bytes).use { it.write(text.toByteArray()) }
    return bytes.toByteArray()
}

/** Converts a value to JSON. Omits null entries of objects. Numbers that JSON does not support become null. */
private fun toJson(value: Any?): String = when (value) {
    null -> "null"
    is Boolean -> value.toString()
    is Double -> if (value.isNaN() || value.isInfinite()) "null" else value.toString()
    is Float -> toJson(value.toDouble())
    is Number -> value.toString()
    is Map<*, *> -> value.entries.filter { it.value != null }
        .joinToString(",", "{", "}") { "${quote(it.key.toString())}:${toJson(it.value)}" }
    is Iterable<*> -> value.joinToString(",", "[", "]") { toJson(it) }
    is Array<*> -> toJson(value.asList())
    else -> quote(value.toString())
}

private fun quote(text: String): String = buildString {
    append('"')
    for (char in text) {
        when {
            char == '"' || char == '\\' -> append('\\').append(char)
            char < ' ' -> append(String.format(Locale.ROOT, "\\u%04x", char.code))
            else -> append(char)
        }
    }
    append('"')
}
