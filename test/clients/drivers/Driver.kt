import com.example.tagwarden.Tagwarden
import java.io.File
import java.util.concurrent.CountDownLatch
import kotlin.system.exitProcess

fun main(args: Array<String>) {
    val tagwarden = Tagwarden(File(args[0]), version = 418, sendAfterMs = 50, firstRetryMs = 20,
        onError = { System.err.println(it) })
    tagwarden.screen("app://shop.example/cart", "Cart")
    while (true) {
        val (command, from, to) = ((readLine() ?: break) + "  ").split(" ")
        if (command == "track")
            for (order in from.toInt() until to.toInt())
                tagwarden.track("Shop", "purchase", mapOf("order" to order, "note" to "ü \"\n".repeat(20)),
                    mapOf("status" to "ok"))
        val done = CountDownLatch(1)
        tagwarden.flush { done.countDown() }
        done.await()
        if (command == "close") tagwarden.close()
        println(command)
        if (command == "close") exitProcess(0)
    }
}
