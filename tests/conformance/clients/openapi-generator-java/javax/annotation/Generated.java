package javax.annotation;

/** What marks the generated classes: Java 11 dropped it from its own library. */
public @interface Generated {
    String value();

    String comments();
}
